import * as z from "zod";

import { limits } from "../../../src/protocol/limits.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import type { Job, Jobs } from "../jobs/jobs.ts";
import { formatDuration } from "../text.ts";
import { defineContainerTool } from "./tool.ts";

const defaultLines = 100;
const stoppedLines = 20;
const shownCommandChars = 200;
/** Room for the lines that the tool adds itself. */
const shownOutputChars = limits.toolOutputChars - 1_000;

/** Looks after commands that run in the background. */
export const jobs = defineContainerTool({
  name: "jobs",
  description:
    "Look after background jobs: list them, see the last lines of one's output, or stop one. When a job ends you are told; there is no need to wait for it.",
  input: z.strictObject({
    action: z.enum(["list", "output", "stop"]),
    id: z.string().min(1).max(64).optional().describe("Of the job, for output and stop."),
    tail: z.number().int().min(1).max(2_000).optional().describe("How many lines of output. Default 100."),
  }),
  risk: ({ action }) => (action === "stop" ? "medium" : "low"),
  timeoutSeconds: 60,
  activity: { doing: "looking after background jobs", shows: "id" },
  readsOnly: false,
  run: async ({ action, id, tail }, place) => {
    if (action === "list") return place.jobs.list().map(describe).join("\n") || "There are no jobs.";
    const job = find(place.jobs, id);
    if (action === "output") return withOutput(job, tail ?? defaultLines);
    if (job.state !== "running") throw new ToolError(`Job ${job.id} is not running anymore: ${stateOf(job)}.`);
    await place.jobs.stop(job.id, true);
    return withOutput(job, tail ?? stoppedLines);
  },
});

function find(all: Jobs, id: string | undefined): Job {
  const job = id === undefined ? undefined : all.get(id);
  if (job) return job;
  const known = all.list().map((one) => one.id);
  const there = known.length === 0 ? "There are no jobs." : `There are: ${known.join(", ")}.`;
  throw new ToolError(id === undefined ? `id: say which job. ${there}` : `There is no job ${id}. ${there}`);
}

function describe(job: Job): string {
  const command = job.command.replaceAll(/\s+/g, " ");
  const shown = command.length > shownCommandChars ? `${command.slice(0, shownCommandChars).toWellFormed()}…` : command;
  return `${job.id}: ${stateOf(job)}: ${shown}`;
}

function stateOf({ state, startedAt, endedAt, exitCode }: Job): string {
  if (state === "running") return `running for ${formatDuration(Date.now() - startedAt)}`;
  const after = `after ${formatDuration((endedAt ?? startedAt) - startedAt)}`;
  if (state === "stopped") return `stopped ${after}`;
  if (state === "expired") return `ended ${after}, which is as long as it was allowed to run`;
  return exitCode === undefined ? `killed ${after}` : `exit code ${exitCode}, ${after}`;
}

function withOutput(job: Job, lines: number): string {
  const output = job.output.lastLines(lines, shownOutputChars);
  return `${output === "" ? "" : `${output}\n`}[${job.id}: ${stateOf(job)}; ${job.output.whereabouts}]`;
}
