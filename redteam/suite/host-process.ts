import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

import { isSoon, longestWaitMs } from "./waiting.ts";

/** Those that are at work; with one listener each, several at once would look like a leak. */
const children = new Map<ChildProcess, NodeJS.Signals>();
process.once("exit", () => {
  for (const [child, signal] of children) child.kill(signal);
});

/** The child is told to end when this process does. */
export function endWithThisProcess(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
  children.set(child, signal);
  child.once("exit", () => children.delete(child));
}

export interface HostProcessOptions {
  readonly program: string;
  readonly args: readonly string[];
  /** All of its environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Gets each piece of what it says, on either stream. */
  readonly onOutput: (text: string) => void;
  /** Signal sent when this process ends first. */
  readonly lastSignal: NodeJS.Signals;
  /** Separate process group: a Ctrl-C would reach it twice and prevent its cleanup. */
  readonly detached?: boolean;
}

/** A host in a separate process. `port: 0` picks a free port, which the log names. */
export class HostProcess {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #listens = Promise.withResolvers<void>();
  #port = 0;

  constructor({ program, args, environment, onOutput, lastSignal, detached = false }: HostProcessOptions) {
    this.child = spawn(program, args, { env: environment, stdio: ["ignore", "pipe", "pipe"], detached });
    endWithThisProcess(this.child, lastSignal);
    this.child.once("exit", () => this.#listens.resolve());
    let said = "";
    this.child.stdout.setEncoding("utf8").on("data", onOutput);
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      onOutput(text);
      if (this.#port !== 0) return;
      said += text;
      this.#port = Number(/"port":(\d+),"msg":"the gateway listens"/.exec(said)?.[1] ?? 0);
      if (this.#port !== 0) this.#listens.resolve();
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Address of the gateway; unreachable until it listens. */
  get url(): string {
    return `http://127.0.0.1:${this.isRunning ? this.#port : 0}`;
  }

  /** Waits until it takes messages. False when it has ended instead, or never does. */
  async becomesReady(): Promise<boolean> {
    const limit = once(AbortSignal.timeout(longestWaitMs), "abort");
    await Promise.race([this.#listens.promise, limit]);
    const isReady = async (): Promise<boolean> =>
      (await fetch(`${this.url}/health/ready`).catch(() => undefined))?.ok === true;
    await isSoon(async () => !this.isRunning || (await isReady()), 20);
    return this.isRunning && isReady();
  }

  /**
   * Ends it with a signal and waits for it; one that does not end is killed. Resolves with the exit code, null after a
   * fatal signal.
   */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.isRunning) return this.child.exitCode;
    const exited = once(this.child, "exit");
    this.child.kill(signal);
    // One that was frozen would not notice.
    this.child.kill("SIGCONT");
    const limit = setTimeout(() => this.child.kill("SIGKILL"), longestWaitMs);
    await exited;
    clearTimeout(limit);
    return this.child.exitCode;
  }
}
