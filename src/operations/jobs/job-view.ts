import type { JobState } from "../../domain/job.ts";

/** A background job. Times are milliseconds since 1970; null: not yet, or not known. */
export interface JobView {
  readonly id: string;
  readonly group: string;
  readonly session: string;
  readonly command: string;
  readonly state: JobState;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly exitCode: number | null;
}

/** What the operator does with background jobs. */
export interface JobOperations {
  /** Background jobs that run, with `all` also those that are over, newest first. */
  listJobs(filter: {
    readonly group?: string | undefined;
    readonly all: boolean;
    readonly limit: number;
  }): Promise<readonly JobView[]>;
  /** Ends a job that runs, and returns it as it ended. `session`: where jobs of several have this id. */
  stopJob(id: string, session: string | undefined): Promise<JobView>;
}
