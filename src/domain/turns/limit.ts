/**
 * What can be used up. `memory`: processes ended by the kernel. `processes`: starts that were refused. `turn-time`: a
 * turn that took too long. `place-time`: tools that ran for long while other groups had no place. `output-rate`: lines
 * of a session's log that came too fast. `workspace`, `workspace-files`: the group's folder. `turn-steps`: answers of
 * the model in one turn. `repeats`, `no-progress`: a turn whose calls went round in circles; both count rounds of
 * calls.
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
  /** What was counted, in the limit's own unit: processes, milliseconds, bytes … */
  readonly value: number;
  readonly text: string;
}

/** How often the kernel has enforced a container's limits since it was made. */
export interface LimitCounters {
  /** Processes that were ended because the memory was used up. */
  readonly memoryKills: number;
  /** Processes that could not be started because there were too many. */
  readonly refusedProcesses: number;
}

/** What a folder takes, links not followed, other file systems not entered. */
export interface FolderUsage {
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entries: number;
}
