import type { Group, GroupChat } from "../chats/group.ts";
import type { Origin } from "../people/origin.ts";
import type { Lineage } from "../rights/lineage.ts";

/**
 * When a task is due: once (`at`, milliseconds since 1970), on a grid that began when it was made (`every`), or by the
 * clock of a time zone (`cron`, five fields).
 */
export type Timing =
  | { readonly kind: "at"; readonly at: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly since: number }
  | { readonly kind: "cron"; readonly cron: string };

/** Rules for due times missed while the host was away: run none, the last, or all. */
export const missedRules = ["skip", "latest", "all"] as const;

export type MissedRule = (typeof missedRules)[number];

/** `group`: in the group's conversation. `isolated`: in its own new one for each run. */
export const taskModes = ["group", "isolated"] as const;

export type TaskMode = (typeof taskModes)[number];

/** `active` → `paused` and back; `done`: it was due for the last time. */
export const taskStates = ["active", "paused", "done"] as const;

export type TaskState = (typeof taskStates)[number];

/** The group of a task, and of several agents the one that does it; left out: the first one. */
export type TaskGroup = GroupChat & Pick<Group, "agent">;

/** Something that an agent is told to do at certain times. */
export interface NewTask {
  readonly id: string;
  /** The group at creation; another chat under the same name does not inherit the task. */
  readonly group: TaskGroup;
  readonly name: string;
  /** Prompt for the agent; as hostile as its author. */
  readonly prompt: string;
  readonly timing: Timing;
  /** An IANA name. */
  readonly timezone: string;
  readonly mode: TaskMode;
  readonly missed: MissedRule;
  /** Origin of the prompt's words. */
  readonly origin: Origin;
  /** Lineage of whoever made or changed it; its turns never have more rights. */
  readonly lineage: Lineage;
  /** Next due time; undefined: never. */
  readonly next: number | undefined;
  readonly createdAt: number;
}

export interface Task extends NewTask {
  readonly state: TaskState;
  /** Reason of the pause. */
  readonly reason: string | undefined;
  /** Runs that failed in a row. */
  readonly failures: number;
  readonly lastRun: TaskRun | undefined;
}

/**
 * `running`: handed to the agent, or waiting for its next attempt. `missed`: passed by while the host was away.
 * `skipped`: the run before had not ended. `dropped`: given up before a turn began.
 */
export const runStates = ["running", "done", "failed", "cancelled", "dropped", "missed", "skipped"] as const;

export type RunState = (typeof runStates)[number];

/** One due time of a task, and what became of it. */
export interface TaskRun {
  readonly task: string;
  readonly due: number;
  readonly state: RunState;
  readonly claimedAt: number;
  readonly endedAt: number | undefined;
  /** Number of turns begun for this run, including one about to begin. */
  readonly attempts: number;
  readonly turn: string | undefined;
  /** Reason of the failure, or number of skipped due times. */
  readonly reason: string | undefined;
}

/** Tasks that a group may have at a time, those not counted that are done. */
export const tasksPerGroup = 50;

/** Two due times of a task are never closer. */
export const leastGapMs = 60_000;
