import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";

import { readEnvironment } from "../../src/config/environment.ts";
import { endWithThisProcess } from "./host-process.ts";
import { longestWaitMs } from "./waiting.ts";

/** The program that users start. */
export const attackedProgram = join(readEnvironment().checkout, "scripts", "crabpot");

type Variables = Readonly<Record<string, string>>;

/** End of a command; the code of one that did not end in time is null. */
export interface CommandEnd {
  readonly code: number | null;
  readonly output: string;
}

/** A command that the thread is asked to run. */
export interface AskedCommand {
  readonly number: number;
  readonly variables: Variables;
  readonly args: readonly string[];
}

/** A command that the thread has run. */
export interface EndedCommand {
  readonly number: number;
  readonly end: CommandEnd;
}

/** Commands that are a process by nature: they run until they are stopped, or start programs that look at them. */
const processes: ReadonlySet<string> = new Set(["start", "plugins"]);

/** In the sources and among the built programs. */
const threadFile = extname(import.meta.filename) === ".ts" ? "../commands/command-thread.ts" : "command-thread.mjs";

/**
 * Runs commands of crabpot to their ends, in one thread: a start of Node takes many times as long as most of them. One
 * that does not end in time ends with the thread, and so do those beside it.
 */
export class Commands implements AsyncDisposable {
  readonly #waiting = new Map<number, (end: CommandEnd) => void>();
  #thread: Worker | undefined;
  #count = 0;

  async run(variables: Variables, args: readonly string[]): Promise<CommandEnd> {
    if (processes.has(args[0] ?? "")) return runProcess(variables, args);
    const { promise, resolve } = Promise.withResolvers<CommandEnd>();
    const thread = (this.#thread ??= this.#start());
    const number = this.#count++;
    this.#waiting.set(number, resolve);
    const limit = setTimeout(() => void thread.terminate(), longestWaitMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage({ number, variables, args } satisfies AskedCommand);
    const end = await promise;
    clearTimeout(limit);
    return end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL(threadFile, import.meta.url));
    thread.unref();
    thread.on("message", ({ number, end }: EndedCommand) => this.#settle(number, end));
    let why = "";
    thread.on("error", (error) => (why = String(error)));
    thread.once("exit", () => {
      this.#thread = undefined;
      for (const number of this.#waiting.keys()) this.#settle(number, { code: null, output: why });
    });
    return thread;
  }

  #settle(number: number, end: CommandEnd): void {
    this.#waiting.get(number)?.(end);
    this.#waiting.delete(number);
  }
}

/** Runs a command as a process; one that does not end in time is killed. */
async function runProcess(variables: Variables, args: readonly string[]): Promise<CommandEnd> {
  const child = spawn(attackedProgram, args, { env: variables, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const collect = (chunk: Buffer): void => void (output += chunk.toString());
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const limit = setTimeout(() => child.kill("SIGKILL"), longestWaitMs);
  endWithThisProcess(child);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(limit);
  return { code, output };
}
