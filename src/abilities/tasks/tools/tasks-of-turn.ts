import type { MissedRule, Task, TaskMode } from "../../../domain/work/task.ts";

/** A task in the words of the model; what is left out is up to the host. */
export interface ToldTask {
  readonly prompt?: string | undefined;
  readonly name?: string | undefined;
  readonly at?: string | undefined;
  readonly every?: string | undefined;
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly mode?: TaskMode | undefined;
  readonly missed?: MissedRule | undefined;
}

/** The tasks that a turn may see and change: those of its group, in a main group those of all. Throws ToolError. */
export interface TaskPort {
  /** `group`: another one than the turn's; only main groups have others. */
  readonly make: (wanted: ToldTask & { readonly prompt: string }, group: string | undefined) => Promise<Task>;
  readonly list: (group: string | undefined) => Promise<readonly Task[]>;
  readonly change: (id: string, wanted: ToldTask & { readonly paused?: boolean | undefined }) => Promise<Task>;
  readonly remove: (id: string) => Promise<Task>;
  readonly run: (id: string) => Promise<Task>;
}
