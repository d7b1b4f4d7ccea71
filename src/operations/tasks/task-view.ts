import type { Role } from "../../domain/role.ts";
import type { MissedRule, RunState, TaskMode, TaskState } from "../../domain/task.ts";

/** A task that the operator wants; exactly one of `at`, `every` and `cron`. */
export interface NewOperatorTask {
  readonly group: string;
  readonly prompt: string;
  readonly name?: string | undefined;
  readonly at?: string | undefined;
  readonly every?: string | undefined;
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly mode?: TaskMode | undefined;
  readonly missed?: MissedRule | undefined;
}

export type TaskAction = "pause" | "resume" | "remove" | "run";

/** Times are ISO 8601; `next` is null where it is never due by itself. */
export interface TaskView {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly prompt: string;
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly timezone: string;
  readonly mode: TaskMode;
  readonly missed: MissedRule;
  readonly next: string | null;
  readonly state: TaskState;
  readonly reason: string | undefined;
  readonly failures: number;
  /** What whoever made it was then. */
  readonly role: Role;
  readonly requester: string | undefined;
  readonly createdAt: string;
  readonly lastRun: TaskRunView | null;
}

/** One due time of a task; times are ISO 8601. */
export interface TaskRunView {
  readonly id: string;
  readonly due: string;
  readonly state: RunState;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly attempts: number;
  readonly turn: string | null;
  readonly reason: string | null;
}

/** What the operator does with tasks. */
export interface TaskOperations {
  /** In the order of making. */
  listTasks(group: string | undefined): Promise<readonly TaskView[]>;
  /** Newest first. */
  taskHistory(id: string, limit: number): Promise<readonly TaskRunView[]>;
  /** As the operator. Rejects with `bad_input`, and with `conflict` when the group has too many. */
  addTask(task: NewOperatorTask): Promise<TaskView>;
  actOnTask(id: string, action: TaskAction): Promise<TaskView>;
}
