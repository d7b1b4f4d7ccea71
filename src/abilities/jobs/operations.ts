import * as z from "zod";

import type { Job } from "../../domain/work/job.ts";
import { jobStates } from "../../domain/work/job.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../../operations/definition/define-operation.ts";
import { stopRefusal, stopRights } from "./job-rights.ts";
import { flag, limit, list, name, onlyGroup, listedChars, time } from "../../operations/definition/schemas.ts";

/** The parts that end jobs. */
export interface JobNeeds {
  readonly store: {
    readonly jobs: Pick<Store["jobs"], "list" | "running">;
  };
  /** Ends a job by request; false when it is not running. */
  readonly jobs: { stop(job: Pick<Job, "session" | "id">, by: string): Promise<boolean> };
}

const chatChars = 80;
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
  may: { scope: "read", role: "member" },
  effect: "none",
  rest: "GET /jobs",
  listAs: "jobs",
  offline: true,
  cli: {
    table: ["id", "group", "session", "state", "exitCode", "startedAt", "endedAt", { field: "command", short: true }],
    none: ({ all }) => (all ? "There are no background jobs." : "No background jobs are running."),
  },
  chat: {
    form: "/jobs",
    say: (jobs) =>
      jobs
        .toReversed()
        .map(({ id, command }) => `${id}: ${plainSentence(shorten(command, chatChars))}`)
        .join("\n") || "Nothing runs in the background.",
  },
  run: async ({ store }, filter) => (await store.jobs.list(filter)).map(viewJob),
});

export const stopJob = defineOperation<JobNeeds>()({
  name: "jobs.stop",
  summary: "end a background job that runs",
  input: z.strictObject({
    id: name,
    group: onlyGroup,
    session: name.optional().describe("its session, where several have a job of this id"),
  }),
  output: jobView,
  may: {
    scope: "admin",
    role: stopRights.role,
    of: async ({ store }, input) => (await findJob(store, input)).group,
    own: async ({ store }, input) => (await findJob(store, input)).lineage,
    refusal: stopRefusal,
  },
  effect: "change",
  cli: { args: ["id"], say: ({ id, group, state }) => `Job ${id} of group ${group} has ended: ${state}.` },
  chat: { form: "/jobs stop ID", say: ({ id }) => `${id} was stopped.` },
  run: async ({ store, jobs }, input, { member }) => {
    const job = await findJob(store, input);
    await jobs.stop(job, member ? "somebody in the chat" : "the operator");
    const all = await store.jobs.list({ group: job.group, all: true, limit: lookedThrough });
    return viewJob(all.find((one) => one.id === job.id && one.session === job.session) ?? job);
  },
});

/** The job that runs under this id. Throws `not_found`, or `bad_input` where several do. */
async function findJob(
  store: JobNeeds["store"],
  {
    id,
    group,
    session,
  }: { readonly id: string; readonly group?: string | undefined; readonly session?: string | undefined },
): Promise<Job> {
  const running = (await store.jobs.running(session)).filter(
    (job) => job.id === id && (group === undefined || job.group === group),
  );
  const [job] = running;
  if (!job) throw new AppError("not_found", `No background job ${id} is running.`, { fix: ownCommand("jobs list") });
  if (running.length === 1) return job;
  const sessions = running.map((one) => one.session).join(", ");
  throw new AppError("bad_input", `Jobs of several sessions have the id ${id}: ${sessions}.`, {
    fix: "say which with --session",
  });
}

function viewJob({ id, group, session, command, state, startedAt, endedAt, exitCode }: Job): JobView {
  const end = { endedAt: endedAt ?? null, exitCode: exitCode ?? null };
  return { id, group, session, command: shorten(command, listedChars), state, startedAt, ...end };
}

/** Operations on background jobs. */
export const jobOperations = [listJobs, stopJob] as const;
