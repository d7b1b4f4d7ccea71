import { realpath } from "node:fs/promises";

import * as z from "zod";

import type { AllowedRun } from "../../../src/protocol/messages.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import type { ToolOutput } from "../../../src/protocol/tools.ts";
import type { JobOutput } from "../jobs/job-output.ts";
import type { Job } from "../jobs/jobs.ts";
import { OutputLog } from "../output-log.ts";
import type { CallOptions, FreshCall, ShellCall, ShellCallEnd } from "../shell/persistent-shell.ts";
import { changedScript } from "../shell/scripts.ts";
import { formatSeconds } from "../text.ts";
import { toError } from "../to-error.ts";
import { defineContainerTool } from "./tool.ts";
import type { CallEnvironment } from "./tool.ts";

const defaultTimeoutSeconds = 120;
const maxTimeoutSeconds = 3_600;
/** Time to end a command that exceeded its limit. */
const endSeconds = 30;

/** The result is the command's output and a last line such as `[exit code 0, 1.2 s]`. */
export const shell = defineContainerTool({
  name: "shell",
  description:
    "Run a command in the session's persistent bash. Returns output and exit code. With background it runs as its own job and you are told when it ends; so does a command that reaches its time-out, if there is room for another job.",
  input: z.strictObject({
    command: z
      .string()
      .min(1)
      .describe("Command line for bash. Working directory and environment stay from call to call."),
    timeout_s: z
      .number()
      .positive()
      .max(maxTimeoutSeconds)
      .optional()
      .describe(
        "Seconds until it goes on as a job, or is killed. Default 120. With background: until the job is ended.",
      ),
    background: z
      .boolean()
      .optional()
      .describe("Return at once with the id of a job, which the tool jobs looks after."),
  }),
  risk: "high",
  timeoutSeconds: maxTimeoutSeconds + endSeconds,
  activity: { doing: "running a command", shows: "command" },
  readsOnly: false,
  run: async (input, place) => {
    if (place.approved) await refuseChanged(place, place.approved);
    if (input.command.includes("\0")) throw new ToolError("command: contains a NUL character, which bash cannot take.");
    return input.background === true ? startJob(input, place) : runNow(input, place);
  },
});

interface ShellInput {
  readonly command: string;
  readonly timeout_s?: number | undefined;
}

async function startJob({ command, timeout_s: seconds }: ShellInput, place: CallEnvironment): Promise<string> {
  const { refusal } = place.jobs;
  if (refusal !== undefined) throw new ToolError(`The command was not run: ${refusal}.`);
  const fresh = { state: undefined, workingDirectory: folderOf(place) };
  const from = place.approved ? fresh : { state: place.shell.state };
  const job = await place.jobs.start(command, from, seconds).catch((error: unknown) => {
    throw new ToolError(`No shell could be started: ${reasonOf(error)}`);
  });
  return `[${job.id} runs in the background; you are told when it ends; ${job.output.whereabouts}]`;
}

async function runNow(input: ShellInput, place: CallEnvironment): Promise<ToolOutput> {
  const timeoutSeconds = input.timeout_s ?? defaultTimeoutSeconds;
  const log = new OutputLog(place.outputs);
  const startedAt = performance.now();
  let sink: Pick<OutputLog, "write"> = log;
  let refusal: string | undefined;
  let call: ShellCall & Partial<FreshCall>;
  try {
    const options: CallOptions = {
      timeoutMs: timeoutSeconds * 1_000,
      signal: place.signal,
      mayGoOn: () => (refusal = place.jobs.refusal) === undefined,
      onOutput: (chunk) => {
        sink.write(chunk);
        // Of what goes on as a job nothing more is shown.
        if (sink === log) place.show?.(chunk);
      },
    };
    call = await (place.approved
      ? place.shell.runAfresh(input.command, folderOf(place), options)
      : place.shell.run(input.command, options));
  } catch (error) {
    throw new ToolError(`No shell could be started: ${reasonOf(error)}`);
  }
  const { end, unchoked, isMoved = false } = call;
  const printed = log.finish();
  if (end.kind === "goes-on") {
    const divert = (output: JobOutput): void => void (sink = output);
    const job = await place.jobs.take(end, { command: input.command, printed, divert });
    return { output: withLastLine(printed, `[${goesOn(job, timeoutSeconds)}]`), isError: false };
  }
  const elapsed = formatSeconds(performance.now() - startedAt);
  const remarks = [
    outcome(end, elapsed, timeoutSeconds),
    ...(end.kind === "timed-out" && refusal !== undefined ? [`it could not go on as a job: ${refusal}`] : []),
    ...(unchoked ? [unchokedNotice] : []),
    ...(place.approved && (isMoved || changesShell.test(input.command)) ? [ownShell] : []),
  ];
  return { output: withLastLine(printed, `[${remarks.join("; ")}]`), isError: end.kind !== "completed" };
}

/** The folder that people were shown. */
function folderOf(place: CallEnvironment): string {
  return place.approved?.directory ?? place.shell.startDirectory;
}

/** Throws for what is not what people have allowed. */
async function refuseChanged(place: CallEnvironment, approved: AllowedRun): Promise<void> {
  const folder = folderOf(place);
  const real = await realpath(folder).catch(() => undefined);
  if (approved.directory !== undefined && real !== folder)
    throw new ToolError(`Nothing was run: the folder ${folder}, which people were shown, no longer exists.`);
  const changed = await changedScript(folder, approved);
  if (changed !== undefined)
    throw new ToolError(`Nothing was run: the file ${changed} has changed since it was shown to people. Ask again.`);
}

/** Sets what would stay in the session's shell. */
const changesShell = /(?:^|[;&|({]|\s)(?:cd|pushd|popd|export|declare|typeset|alias|unset|set|shopt|source|\.)\s/;
const ownShell = "it ran in a separate shell: folder, variables and the like do not stay";

function goesOn(job: Job, timeoutSeconds: number): string {
  return `still running after ${timeoutSeconds} s: it goes on as ${job.id}, and you are told when it ends; ${job.output.whereabouts}. ${newShell}`;
}

const newShell =
  "The next command gets a new shell in the directory and environment from before this command: functions, variables that were not exported, and what earlier commands had left running in the background are the job's now, and end with it";
const restart =
  "The shell and everything it had started were ended; the next command starts a new one in the same directory and environment";
const unchokedNotice =
  "there were too many processes for this command to start, so everything that earlier commands had left running was ended first";

function outcome(end: Exclude<ShellCallEnd, { kind: "goes-on" }>, elapsed: string, timeoutSeconds: number): string {
  if (end.kind === "completed") return `exit code ${end.exitCode}, ${elapsed}`;
  if (end.kind === "ended") {
    return `the shell ended with ${end.signal ?? `exit code ${end.exitCode ?? "unknown"}`}, ${elapsed}. ${restart}`;
  }
  const reasons = {
    "timed-out": `timed out after ${timeoutSeconds} s`,
    cancelled: `cancelled after ${elapsed}`,
    choked: `too many processes: no more could be started after ${elapsed}`,
  };
  return `${reasons[end.kind]}. ${restart}`;
}

function withLastLine(output: string, lastLine: string): string {
  if (output === "") return lastLine;
  return output.endsWith("\n") ? `${output}${lastLine}` : `${output}\n${lastLine}`;
}

function reasonOf(error: unknown): string {
  const { message } = toError(error);
  if (!message.includes("EAGAIN")) return message;
  return "too many processes are running in the container (EAGAIN). Wait for some to end, or end them.";
}
