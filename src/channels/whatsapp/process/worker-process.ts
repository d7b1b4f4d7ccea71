import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";

import type { Logger } from "pino";

import type { HostCalls, WorkerCalls } from "./calls.ts";
import { IpcPeer } from "./ipc.ts";
import { LastWords } from "./last-words.ts";
import { shorten, visible } from "../../../lib/text/visible.ts";
import { workerVariables } from "./worker-variables.ts";

export interface WorkerLimits {
  readonly heartbeatMs: number;
  /** A worker that was silent for so long is killed. */
  readonly silenceMs: number;
  /** What a worker gets to end by itself. */
  readonly endMs: number;
}

const outputMs = 500;
const crashChars = 300;

export const workerLimits: WorkerLimits = { heartbeatMs: 10_000, silenceMs: 60_000, endMs: 2_000 };

export interface WorkerOptions {
  readonly calls: Omit<HostCalls, "heartbeat" | "crashed">;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly limits?: WorkerLimits | undefined;
}

/**
 * The process in which the WhatsApp library runs: its arithmetic holds a process up, it prints keys, and a connection
 * of it can hang. What it prints is counted and dropped, but for words that say why it died. Killed when it is silent,
 * and when this is disposed at the latest.
 */
export class WorkerProcess implements AsyncDisposable {
  readonly peer: IpcPeer<HostCalls, WorkerCalls>;
  /** Resolves when the process has ended, with the reason. */
  readonly exited: Promise<Error>;
  readonly #child: ChildProcess;
  readonly #limits: WorkerLimits;
  readonly #logger: Logger;
  #silence: NodeJS.Timeout;
  #silenced = false;
  #droppedBytes = 0;
  readonly #lastWords: LastWords;
  /** Where it says that it failed. */
  #crash: string | undefined;

  constructor({ calls, variables, logger, limits = workerLimits }: WorkerOptions) {
    this.#limits = limits;
    this.#logger = logger;
    const env = Object.fromEntries(
      workerVariables.flatMap((name) => (variables[name] ? [[name, variables[name]]] : [])),
    );
    const child = fork(
      new URL(`worker${extname(import.meta.filename)}`, import.meta.url),
      [String(limits.heartbeatMs)],
      {
        env,
        execArgv: [],
        serialization: "advanced",
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      },
    );
    this.#child = child;
    this.#lastWords = new LastWords(Object.values(env));
    child.stderr?.on("data", (chunk: Buffer) => this.#lastWords.hear(chunk));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => (this.#droppedBytes += chunk.length));
    }
    const post = (message: object): boolean => {
      if ("call" in message && message.call === "start") this.#lastWords.holdsKeys = true;
      if (child.connected) child.send(message, () => undefined);
      return child.connected;
    };
    this.peer = new IpcPeer<HostCalls, WorkerCalls>(
      { send: post },
      {
        ...calls,
        heartbeat: async () => this.#heard(),
        crashed: async (place) => void (this.#crash = place),
      },
    );
    child.on("message", (message) => this.peer.receive(message));
    this.#silence = this.#expectHeartbeat();
    this.exited = this.#end();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Lets it end by itself for a moment. When this has resolved there is no process, and no call of it is being served.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const patience = setTimeout(() => this.#kill(), this.#limits.endMs);
    await this.peer.call("end", undefined).catch(() => undefined);
    if (this.#child.connected) this.#child.disconnect();
    await this.exited;
    clearTimeout(patience);
    await this.peer.idle();
  }

  async #end(): Promise<Error> {
    const [code, signal] = await Promise.race([
      once(this.#child, "exit") as Promise<[number | null, string | null]>,
      once(this.#child, "error").then(([error]): [string, null] => [(error as Error).message, null]),
    ]);
    clearTimeout(this.#silence);
    await this.#lastOutput();
    const why = this.#silenced ? "it gave no sign of life" : (signal ?? `code ${code}`);
    const words = this.#crash === undefined ? this.#lastWords.tell() : shorten(visible(this.#crash), crashChars);
    const reason = new Error(`the WhatsApp process has ended (${words === undefined ? why : `${why}: ${words}`})`);
    this.peer.close(reason);
    this.#logger.debug({ droppedBytes: this.#droppedBytes, code, signal }, "the WhatsApp process has ended");
    return reason;
  }

  /** What it has printed arrives after its end. */
  async #lastOutput(): Promise<void> {
    const { stderr } = this.#child;
    if (!stderr || stderr.closed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const patience = setTimeout(resolve, outputMs);
    stderr.once("close", resolve);
    await promise;
    clearTimeout(patience);
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = this.#expectHeartbeat();
  }

  #expectHeartbeat(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#silenced = true;
      this.#kill();
    }, this.#limits.silenceMs);
  }

  #kill(): void {
    this.#child.kill("SIGKILL");
  }
}
