/**
 * Limits that can be reached. `memory`: processes ended by the kernel. `processes`: refused starts. `turn-time`: length
 * of a turn. `place-time`: long tools while other groups waited for a slot. `output-rate`: log lines that came too
 * fast. `workspace`, `workspace-files`: the group's folder. `turn-steps`: model answers in a turn. `repeats`,
 * `no-progress`: rounds of calls in a loop.
 */
export type LimitName =
  | "memory"
  | "processes"
  | "turn-time"
  | "place-time"
  | "turn-steps"
  | "repeats"
  | "no-progress"
  | "output-rate"
  | "workspace"
  | "workspace-files";

/** A bound that was reached. `text` is a whole sentence in plain words, good for a log, a chat and a model. */
export interface LimitHit {
  readonly limit: LimitName;
  /** Counted value in the limit's unit: processes, milliseconds, bytes … */
  readonly value: number;
  readonly text: string;
}

/** Number of times that the kernel has enforced each of a container's limits. */
export interface LimitCounters {
  /** Processes that were ended because the memory was used up. */
  readonly memoryKills: number;
  /** Processes that could not be started because there were too many. */
  readonly refusedProcesses: number;
}

/** Size of a folder, without following links or entering other file systems. */
export interface FolderUsage {
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entries: number;
}
