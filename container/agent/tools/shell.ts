import { toError } from "../../../src/lib/app-error.ts";
import { toolInputs } from "../../../src/protocol/tools.ts";
import { OutputLog } from "../output-log.ts";
import type { PersistentShell, ShellCall, ShellCallEnd } from "../shell/persistent-shell.ts";
import { formatSeconds } from "../text.ts";
import type { ToolOutputFolder } from "../tool-output-folder.ts";
import { descriptionOf, failure } from "./tool.ts";
import type { Tool, ToolContext, ToolInput, ToolOutput } from "./tool.ts";

const defaultTimeoutSeconds = 120;

/** Runs a command; the result is its output and a last line such as `[exit code 0, 1.2 s]`. */
export class ShellTool implements Tool<"shell"> {
  readonly name = "shell";
  readonly description = descriptionOf("shell");
  readonly schema = toolInputs.shell;
  readonly readsOnly = false;
  readonly #shell: PersistentShell;
  readonly #outputs: ToolOutputFolder;

  constructor(shell: PersistentShell, outputs: ToolOutputFolder) {
    this.#shell = shell;
    this.#outputs = outputs;
  }

  async execute(input: ToolInput<"shell">, { signal }: ToolContext): Promise<ToolOutput> {
    if (input.command.includes("\0")) return failure("command: contains a NUL character, which bash cannot take.");
    const timeoutSeconds = input.timeout_s ?? defaultTimeoutSeconds;
    const log = new OutputLog(this.#outputs);
    const startedAt = performance.now();
    const options = { timeoutMs: timeoutSeconds * 1_000, signal, onOutput: (chunk: Buffer) => log.write(chunk) };
    let call: ShellCall;
    try {
      call = await this.#shell.run(input.command, options);
    } catch (error) {
      return failure(`No shell could be started: ${reasonOf(error)}`);
    }
    const elapsed = formatSeconds(performance.now() - startedAt);
    const lastLine = `[${outcome(call.end, elapsed, timeoutSeconds)}${call.unchoked ? `; ${unchokedNotice}` : ""}]`;
    return { output: withLastLine(log.finish(), lastLine), isError: call.end.kind !== "completed" };
  }
}

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
