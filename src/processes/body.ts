import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";

import { type Command, commandOf, type Launch } from "./launch.ts";

/** The other end of a line, which runs: a process beside the host's, or a container. */
export interface ProcessBody extends AsyncDisposable {
  /** Carry the line. What comes out is hostile. */
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when it has ended and its last words were read, with how, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** Undefined where the host sees none. */
  readonly pid: number | undefined;
  /** Ends it at once, with all that it has started. */
  kill(): void;
}

/** Takes what a process prints. */
type Prints = (stream: Readable, kind: "stdout" | "stderr") => void;

const outputMs = 500;

/** A process in its own process group, with the line at its file descriptor 3. Left out `prints`: that goes nowhere. */
export function startChild(launch: Launch, prints: Prints | undefined): ProcessBody {
  const child = start(commandOf(launch), prints !== undefined);
  const line = child.stdio[3] as Duplex;
  line.on("error", () => undefined);
  for (const kind of ["stdout", "stderr"] as const) if (child[kind]) prints?.(child[kind], kind);
  return {
    input: line,
    output: line,
    ended: endOf(child),
    pid: child.pid,
    kill: () => killTree(child),
    [Symbol.asyncDispose]: async () => void line.destroy(),
  };
}

function start({ program, args, env, cwd }: Command, isHeard: boolean): ChildProcess {
  const output = isHeard ? "pipe" : "ignore";
  return spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", output, output, "pipe"] });
}

async function endOf(child: ChildProcess): Promise<string> {
  const [code, signal] = await Promise.race([
    once(child, "exit") as Promise<[number | null, string | null]>,
    once(child, "error").then(([error]): [string, null] => [(error as Error).message, null]),
  ]);
  await lastOutput(child);
  return signal ?? `code ${code}`;
}

/** Kills a process that leads a group, with all that it has started; one that has ended is left alone. */
function killTree(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

/** Waits for output and messages that arrive after the end of the process. */
async function lastOutput({ stdio }: ChildProcess): Promise<void> {
  const open = stdio.filter((stream) => stream !== null && stream !== undefined && !stream.closed);
  const signal = AbortSignal.timeout(outputMs);
  await Promise.allSettled(open.map((stream) => once(stream as Readable, "close", { signal })));
}
