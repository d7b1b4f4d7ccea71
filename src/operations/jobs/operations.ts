import * as z from "zod";

import type { Job } from "../../domain/work/job.ts";
import { jobStates } from "../../domain/work/job.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../define-operation.ts";
import { flag, limit, list, name, onlyGroup, time } from "../schemas.ts";

/** The parts that end jobs. */
export interface JobNeeds {
  readonly store: { readonly jobs: Pick<Store["jobs"], "list" | "running"> };
  /** Ends a job for somebody; false: it does not run. */
  readonly jobs: { stop(job: Pick<Job, "session" | "id">, by: string): Promise<boolean> };
}

const shownChars = 400;
/** Jobs that are looked through for the one that was ended just now. */
const lookedThrough = 1_000;

/** A background job. */
const jobView = z.strictObject({
  id: z.string(),
  group: z.string(),
  session: z.string(),
  command: z.string().describe("Shortened"),
  state: z.enum(jobStates),
  startedAt: time,
  endedAt: time.nullable(),
  exitCode: z.number().nullable(),
});

export type JobView = z.infer<typeof jobView>;

export const listJobs = defineOperation<{ readonly store: { readonly jobs: Pick<Store["jobs"], "list"> } }>()({
  name: "jobs.list",
  summary: "list background jobs of agents, newest first",
  input: z.strictObject({
    group: onlyGroup,
    all: flag.describe("also jobs that have ended"),
    limit: limit(20),
  }),
  output: list(jobView),
  scope: "read",
  effect: "none",
  rest: "GET /jobs",
  listAs: "jobs",
  offline: true,
  cli: {
    table: ["id", "group", "session", "state", "exitCode", "startedAt", "endedAt", { field: "command", short: true }],
    none: ({ all }) => (all ? "There are no background jobs." : "No background jobs are running."),
  },
  run: async ({ store }, filter) => (await store.jobs.list(filter)).map(viewJob),
});

export const stopJob = defineOperation<JobNeeds>()({
  name: "jobs.stop",
  summary: "end a background job that runs",
  input: z.strictObject({
    id: name,
    session: name.optional().describe("its session, where several have a job of this id"),
  }),
  output: jobView,
  scope: "admin",
  effect: "change",
  cli: { args: ["id"], say: ({ id, group, state }) => `Job ${id} of group ${group} has ended: ${state}.` },
  run: async ({ store, jobs }, { id, session }) => {
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
  },
});

function viewJob({ id, group, session, command, state, startedAt, endedAt, exitCode }: Job): JobView {
  const end = { endedAt: endedAt ?? null, exitCode: exitCode ?? null };
  return { id, group, session, command: shorten(command, shownChars), state, startedAt, ...end };
}

/** Operations on background jobs. */
export const jobOperations = [listJobs, stopJob] as const;
