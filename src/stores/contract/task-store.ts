import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { NewTask, RunState, Task, TaskRun, TaskState } from "../../domain/work/task.ts";
import type { TurnState } from "../../domain/turns/turn.ts";
import type { NewWork } from "../../domain/work/work.ts";

/** Changeable fields of a task. */
export type TaskChange = Partial<
  Pick<NewTask, "name" | "prompt" | "timing" | "timezone" | "mode" | "missed" | "next" | "lineage">
>;

/** A due time with what is done about it. */
export interface NewRun {
  readonly due: number;
  readonly work: Omit<NewWork, "group" | "session">;
}

/** Claim of a task's due times. */
export interface TaskClaim {
  readonly task: Task;
  /** In order. */
  readonly runs: readonly NewRun[];
  /** Maximum unfinished runs; further due times are skipped. */
  readonly open: number;
  /** Skipped due times, named by the last one. */
  readonly missed?: { readonly due: number; readonly reason: string } | undefined;
  /** Next due time; undefined: never. */
  readonly next: number | undefined;
}

/** A run whose work is settled or dropped, and that is not settled itself. */
export interface EndedRun {
  readonly task: Task;
  readonly due: number;
  readonly attempts: number;
  /** Turn of the run; undefined when its work was dropped before. */
  readonly turn: { readonly id: string; readonly session: string; readonly state: TurnState } | undefined;
  readonly reason: string | undefined;
}

/** Settlement of a run. */
export interface RunSettlement {
  readonly state: Exclude<RunState, "running">;
  readonly at: number;
  /** It is tried once more, at this time, and goes on. */
  readonly retryAt?: number | undefined;
  /** Runs of the task that have failed in a row by now. */
  readonly failures: number;
  /** The task is paused, because of this. */
  readonly pause?: string | undefined;
  readonly outgoing: readonly OutgoingDraft[];
}

/** Runs of tasks. A run and its work are stored in one transaction, and so are its end and what follows from it. */
interface TaskRunStore {
  /** One that was changed since it was read is left alone. Returns how many runs were begun. */
  claim(claims: readonly TaskClaim[], at: number): Promise<number>;
  /** A run besides the times at which it is due. False, and no effect, while one is unfinished. */
  runNow(task: Task, run: NewRun, at: number): Promise<boolean>;
  isClaimed(task: string, due: number): Promise<boolean>;
  /** When a run was claimed last, by the clock of that time. */
  lastClaimedAt(): Promise<number | undefined>;
  /** All of them or, which is quick however many runs there are, the one of a turn. */
  ended(limit: number, turn?: string): Promise<EndedRun[]>;
  /** Once: false, and no effect, when that was done before. */
  settle(
    run: Pick<EndedRun, "task" | "due" | "attempts" | "turn" | "reason">,
    settlement: RunSettlement,
  ): Promise<boolean>;
  /** Newest first. */
  runs(task: string, limit: number): Promise<TaskRun[]>;
}

/**
 * Tasks and their runs. A run and its work are stored in one transaction, and so are its end and what follows from it.
 */
export interface TaskStore extends TaskRunStore {
  /**
   * False, and no effect, when the group has as many as `limit` that are not done. Forgets the oldest of those that
   * are, beyond as many.
   */
  add(task: NewTask, limit: number): Promise<boolean>;
  get(id: string): Promise<Task | undefined>;
  /** Turn ids with this prefix, in order, at most `limit`. */
  idsBeginningWith(prefix: string, limit: number): Promise<string[]>;
  /** In the order of making. */
  list(filter: { readonly group?: string | undefined }): Promise<Task[]>;
  /** False when there is no such task. */
  change(id: string, change: TaskChange): Promise<boolean>;
  /** A task that is paused gives up what it waits to do. False, and no effect, when there is no such task. */
  setState(
    id: string,
    to: { readonly state: TaskState; readonly reason?: string | undefined; readonly next: number | undefined },
  ): Promise<boolean>;
  /** With its history; what it waits to do is given up. False when there is no such task. */
  remove(id: string): Promise<boolean>;
  /** Due time of the next task; undefined when there is none. */
  nextDueAt(): Promise<number | undefined>;
  /** Active tasks that are due by now, the one that has been for longest first. */
  due(now: number, limit: number): Promise<Task[]>;
  /** Active tasks that are due after this moment. */
  dueAfter(moment: number): Promise<Task[]>;
  /** Tasks that are active; how many there are in all states but `done`. */
  counts(): Promise<{ readonly active: number; readonly paused: number }>;
}
