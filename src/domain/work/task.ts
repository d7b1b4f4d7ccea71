import type { Group, GroupChat } from "../chats/group.ts";
import type { Origin } from "../people/origin.ts";
import type { Role } from "../people/role.ts";

/**
 * When a task is due: once (`at`, milliseconds since 1970), on a grid that began when it was made (`every`), or by the
 * clock of a time zone (`cron`, five fields).
 */
export type Timing =
  | { readonly kind: "at"; readonly at: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly since: number }
  | { readonly kind: "cron"; readonly cron: string };

/** What becomes of due times that passed while the host was away: none, the last or all of them is made up for. */
export const missedRules = ["skip", "latest", "all"] as const;

export type MissedRule = (typeof missedRules)[number];

/** `group`: in the group's conversation. `isolated`: in a new one of its own for each run. */
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
  /** Of the group as it was when the task was made: another chat under the same name does not get it. */
  readonly group: TaskGroup;
  readonly name: string;
  /** What the agent is told; as hostile as whoever wrote it. */
  readonly prompt: string;
  readonly timing: Timing;
  /** An IANA name. */
  readonly timezone: string;
  readonly mode: TaskMode;
  readonly missed: MissedRule;
  /** Whose words the prompt is made of, and what else whoever made it had read. */
  readonly origin: Origin;
  readonly origins: readonly Origin[];
  /** Who asked for it, as `channel:id` of a member; undefined: the operator, or nobody in particular. */
  readonly requester: string | undefined;
  /** What its maker was then: its turns never have more rights. */
  readonly role: Role;
  /** When it is due next; undefined: never again. */
  readonly next: number | undefined;
  readonly createdAt: number;
}

export interface Task extends NewTask {
  readonly state: TaskState;
  /** Why it is paused. */
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
  /** How often a turn was begun for it, or is about to be. */
  readonly attempts: number;
  readonly turn: string | undefined;
  /** Why it failed, or how many due times were passed by. */
  readonly reason: string | undefined;
}

/** Tasks that a group may have at a time, those not counted that are done. */
export const tasksPerGroup = 50;

/** Two due times of a task are never closer. */
export const leastGapMs = 60_000;
