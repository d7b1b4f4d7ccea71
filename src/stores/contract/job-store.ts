import type { Job, JobEnd, NewJob } from "../../domain/work/job.ts";
import type { NewWork } from "../../domain/work/work.ts";

/** Background jobs of all sessions, each known by its session and its id. */
export interface JobStore {
  /** Stores it as running. False, and no effect, for one that is known. */
  begin(job: NewJob): Promise<boolean>;
  /**
   * Notes how it ended, together with the work that its end makes: none where the session is in another conversation by
   * now, or was archived. Undefined, and no effect, for a job that does not run.
   */
  end(
    job: Pick<Job, "session" | "id">,
    end: JobEnd,
    work: NewWork | undefined,
  ): Promise<{ readonly job: Job; readonly addedWork: boolean } | undefined>;
  /** Those that run, of all sessions or of this one, oldest first. */
  running(session?: string): Promise<Job[]>;
  /** Newest first; with `all` also those that are over. */
  list(filter: { readonly group?: string | undefined; readonly all: boolean; readonly limit: number }): Promise<Job[]>;
  /** Forgets those that ended before, at most `limit`. Returns how many. */
  prune(before: number, limit: number): Promise<number>;
}
