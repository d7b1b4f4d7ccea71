import { spawn } from "node:child_process";
import { once } from "node:events";

import { toError } from "../../to-error.ts";
import { ToolError } from "../../../../src/protocol/tools.ts";

/** The program of the image that reads documents, and its last exit code but those of Python: it says why it cannot. */
const program = "/opt/crabpot/document.py";
const refused = 3;
/** It bounds its own time of the processor; this is for one that waits. */
const timeoutMs = 45_000;
const maxOutputBytes = 4_000_000;
const maxErrorBytes = 4_000;

interface RunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Reads a document in a separate process with little memory and time, as strangers wrote it. Returns its output; throws
 * ToolError with its message or its end. It ends with everything that it started.
 */
export async function runReader(parameters: readonly string[], { env, signal }: RunOptions): Promise<Buffer> {
  const path = parameters[1] ?? "";
  const timeout = AbortSignal.timeout(timeoutMs);
  const child = spawn("python3", ["-I", "-S", program, ...parameters], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group, so that what it starts goes with it.
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const ending = AbortSignal.any([signal, timeout]);
  ending.addEventListener("abort", end, { once: true });
  const output = collect(child.stdout, maxOutputBytes, end);
  const errors = collect(child.stderr, maxErrorBytes, () => {});
  try {
    const [code, killedBy] = (await once(child, "close")) as [number | null, string | null];
    if (code === 0 && output.bytes() <= maxOutputBytes) return output.taken();
    throw new ToolError(`${path} cannot be read: ${reason({ code, killedBy, errors: errors.taken(), timeout })}.`);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`${path} cannot be read: ${toError(error).message}.`);
  } finally {
    ending.removeEventListener("abort", end);
    end();
  }
}

interface End {
  readonly code: number | null;
  readonly killedBy: string | null;
  readonly errors: Buffer;
  readonly timeout: AbortSignal;
}

function reason({ code, killedBy, errors, timeout }: End): string {
  const words = errors.toString("utf8").trim();
  if (code === refused && words !== "") return words;
  if (timeout.aborted || killedBy === "SIGXCPU") return "reading it takes too long";
  if (killedBy !== null) return `the program that reads it was ended by ${killedBy}, as too little memory does`;
  const last = words.split("\n").at(-1) ?? "";
  if (last.includes("MemoryError")) return "reading it takes too much memory";
  return `the program that reads it failed (${last.slice(0, 200)})`;
}

/** The first bytes of a stream; `full` is called when there are more. */
function collect(stream: NodeJS.ReadableStream, most: number, full: () => void) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    if (bytes < most) chunks.push(chunk.subarray(0, most - bytes));
    bytes += chunk.length;
    if (bytes > most) full();
  });
  return { taken: () => Buffer.concat(chunks), bytes: () => bytes };
}
