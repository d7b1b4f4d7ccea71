import type { Job } from "../../domain/job.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Store } from "../../stores/store.ts";
import type { JobView, Operations } from "../operations.ts";

export interface JobOperationOptions {
  readonly store: { readonly jobs: Pick<Store["jobs"], "list" | "running"> };
  /** Ends a job for somebody; false: it does not run. */
  readonly jobs: { stop(job: Pick<Job, "session" | "id">, by: string): Promise<boolean> };
}

const shownChars = 400;
/** Jobs that are looked through for the one that was ended just now. */
const lookedThrough = 1_000;

export async function listJobs(
  { store }: { readonly store: { readonly jobs: Pick<Store["jobs"], "list"> } },
  filter: Parameters<Operations["listJobs"]>[0],
): Promise<JobView[]> {
  return (await store.jobs.list(filter)).map(viewJob);
}

export async function stopJob(
  { store, jobs }: JobOperationOptions,
  id: string,
  session: string | undefined,
): Promise<JobView> {
  const fix = ownCommand("jobs list");
  const running = (await store.jobs.running(session)).filter((job) => job.id === id);
  const [job] = running;
  if (!job) throw new AppError("not_found", `No background job ${id} is running.`, { fix });
  if (running.length > 1) {
    const sessions = running.map((one) => one.session).join(", ");
    throw new AppError("bad_input", `Jobs of several sessions have the id ${id}: ${sessions}.`, {
      fix: "say which with --session",
    });
  }
  await jobs.stop(job, "the operator");
  const all = await store.jobs.list({ group: job.group, all: true, limit: lookedThrough });
  return viewJob(all.find((one) => one.id === id && one.session === job.session) ?? job);
}

function viewJob({ id, group, session, command, state, startedAt, endedAt, exitCode }: Job): JobView {
  const end = { endedAt: endedAt ?? null, exitCode: exitCode ?? null };
  return { id, group, session, command: shorten(command, shownChars), state, startedAt, ...end };
}
