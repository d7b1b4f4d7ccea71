import type { Lineage } from "../rights/lineage.ts";

/** `lost`: its container ended, or the host that should have seen its end was missing. */
export const jobStates = ["running", "exited", "stopped", "expired", "lost"] as const;

export type JobState = (typeof jobStates)[number];

/** A job as its agent announces it. Times are milliseconds since 1970. */
export interface NewJob {
  /** Id chosen by the agent, such as `job-4k7q2x`, unique in the session. */
  readonly id: string;
  readonly group: string;
  /** Id of the session. */
  readonly session: string;
  /** The life of the container that it runs in. */
  readonly generation: number;
  /** The turn that it was called in. */
  readonly turn: string;
  /** Its beginning. */
  readonly command: string;
  readonly startedAt: number;
  /** Lineage of the turn that it was called in, at that time. */
  readonly lineage: Lineage;
}

/** A command that goes on, or went on, in a session's container beside its turns. */
export interface Job extends NewJob {
  readonly state: JobState;
  readonly endedAt: number | undefined;
  readonly exitCode: number | undefined;
  /** Reason of an end from outside. */
  readonly reason: string | undefined;
}

/** End of a job. */
export interface JobEnd {
  readonly state: Exclude<JobState, "running">;
  readonly at: number;
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
}
