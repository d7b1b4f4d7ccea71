import * as z from "zod";

import { ToolError } from "../../../src/protocol/tools.ts";
import { OutputLog } from "../output-log.ts";
import type { ShellCall, ShellCallEnd } from "../shell/persistent-shell.ts";
import { formatSeconds } from "../text.ts";
import { toError } from "../to-error.ts";
import { defineContainerTool } from "./tool.ts";

const defaultTimeoutSeconds = 120;
const maxTimeoutSeconds = 3_600;
/** What it may take to end a command that has run out of its own time. */
const endSeconds = 30;

/** The result is the command's output and a last line such as `[exit code 0, 1.2 s]`. */
export const shell = defineContainerTool({
  name: "shell",
  description:
    "Run a command in the session's persistent bash. Returns output and exit code. Long-running programs belong in the background (&), with their output sent to a file.",
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
      .describe("Seconds until it is killed. Default 120."),
  }),
  risk: "high",
  timeoutSeconds: maxTimeoutSeconds + endSeconds,
  activity: { doing: "running a command", shows: "command" },
  readsOnly: false,
  run: async (input, place) => {
    if (input.command.includes("\0")) throw new ToolError("command: contains a NUL character, which bash cannot take.");
    const timeoutSeconds = input.timeout_s ?? defaultTimeoutSeconds;
    const log = new OutputLog(place.outputs);
    const startedAt = performance.now();
    const onOutput = (chunk: Buffer): void => log.write(chunk);
    let call: ShellCall;
    try {
      call = await place.shell.run(input.command, {
        timeoutMs: timeoutSeconds * 1_000,
        signal: place.signal,
        onOutput,
      });
    } catch (error) {
      throw new ToolError(`No shell could be started: ${reasonOf(error)}`);
    }
    const elapsed = formatSeconds(performance.now() - startedAt);
    const lastLine = `[${outcome(call.end, elapsed, timeoutSeconds)}${call.unchoked ? `; ${unchokedNotice}` : ""}]`;
    return { output: withLastLine(log.finish(), lastLine), isError: call.end.kind !== "completed" };
  },
});

const restart =
  "The shell and everything it had started were ended; the next command starts a new one in the same directory and environment";
const unchokedNotice =
  "there were too many processes for this command to start, so everything that earlier commands had left running was ended first";

function outcome(end: ShellCallEnd, elapsed: string, timeoutSeconds: number): string {
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
