import type { Origin } from "../../domain/people/origin.ts";
import { withOrigins } from "../../domain/rights/lineage.ts";
import type { Job, JobEnd } from "../../domain/work/job.ts";
import type { NewWork, ReplyTarget } from "../../domain/work/work.ts";

/** The turn that started a job: where it answers, and what it has read by now. */
export interface JobOwner {
  readonly replyTo: ReplyTarget;
  readonly origins: readonly Origin[];
}

/** Names the end of a job, so that it makes work once however often it is reported. */
export function jobWorkId({ session, id }: Pick<Job, "session" | "id">): string {
  return `job:${session}:${id}`;
}

/**
 * Work that tells the agent of a job's end. The output comes from the container, so it counts as words that the turn
 * had read.
 */
export function jobWork(job: Job, end: JobEnd & { readonly output: string }, owner: JobOwner): NewWork {
  const id = jobWorkId(job);
  const lines = [`Background job ${job.id} ${describeEnd(job, end)}.`, `Command: ${job.command}`];
  if (end.output !== "") lines.push("The end of its output:", end.output);
  return {
    id,
    group: job.group,
    session: job.session,
    cause: "job-ended",
    dueAt: end.at,
    dedupe: id,
    replyTo: owner.replyTo,
    origin: job.lineage.role,
    lineage: withOrigins(job.lineage, owner.origins),
    text: lines.join("\n"),
  };
}

function describeEnd({ startedAt }: Job, { state, at, exitCode, reason }: JobEnd): string {
  const after = `after ${formatSpan(at - startedAt)}`;
  if (state === "exited")
    return `has ended ${after}: ${exitCode === undefined ? "it was killed" : `exit code ${exitCode}`}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  if (state === "lost") return `was lost ${after}${why}. What it had done by then is not known`;
  return `was ended ${after}${why}`;
}

/** `40 s`, `12 min`, `3 h 5 min` */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
