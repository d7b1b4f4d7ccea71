import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import * as z from "zod";

import { ToolError } from "../../../src/protocol/tools.ts";
import { killStartedWith } from "../shell/processes.ts";
import type { BrowserRequest, DriverOptions } from "./requests.ts";

const usualProgram = "/opt/crabpot/browser.cjs";
/** Idle time after which a browser is ended to free its memory. */
const usualIdleMs = 5 * 60_000;
const maxErrorChars = 500;
/** It may take this long to end. */
const endMs = 4_000;

const answerSchema = z.object({
  id: z.number(),
  text: z.string(),
  isError: z.boolean().default(false),
  picture: z.base64().optional(),
  isLast: z.boolean().default(false),
});

type Answer = z.infer<typeof answerSchema>;

interface BrowserOptions {
  readonly home: string;
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The program that drives the browser. */
  readonly program?: string;
  readonly idleMs?: number;
}

/** The session's browser: started when a page is first opened, ended when idle or with the agent. */
export class Browser implements Disposable {
  readonly #options: BrowserOptions;
  /** The last one, running or not. */
  #driver: Driver | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: BrowserOptions) {
    this.#options = options;
  }

  /** One after the other. A call that is cancelled takes the browser with it: what it was doing is not known. */
  async ask(request: Omit<BrowserRequest, "id">, signal: AbortSignal): Promise<Answer> {
    const turn = this.#last.then(() => this.#ask(request, signal));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when its processes have ended: a shell that finds no room for a process ends. False: there was none. */
  async close(): Promise<boolean> {
    const wasOpen = this.#driver?.isRunning === true;
    this[Symbol.dispose]();
    await this.#driver?.gone;
    return wasOpen;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    this.#driver?.end();
  }

  async #ask(request: Omit<BrowserRequest, "id">, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    if (this.#driver?.isRunning !== true) {
      if (request.action !== "open") throw new ToolError("No page is open, or the browser has ended: open one first.");
      // The memory of the one before may be all that there is.
      await this.#driver?.gone;
      signal.throwIfAborted();
      this.#driver = this.#start();
    }
    const stop = (): void => this[Symbol.dispose]();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await this.#driver.ask(request);
    } finally {
      signal.removeEventListener("abort", stop);
      this.#idle = setTimeout(stop, this.#options.idleMs ?? usualIdleMs).unref();
    }
  }

  #start(): Driver {
    const { home, workspace, environment, program = usualProgram } = this.#options;
    const proxy = environment["https_proxy"];
    if (proxy === undefined)
      throw new ToolError(
        "Pages cannot be opened: this group may not reach any host. The operator names some in network.allow.",
      );
    const temporary = mkdtempSync(join(tmpdir(), "browser-"));
    const options: DriverOptions = {
      proxy,
      certificates: environment["SSL_CERT_FILE"],
      home,
      folder: join(temporary, "downloads"),
      downloads: join(workspace, "downloads"),
    };
    return new Driver({ program, options, temporary, environment });
  }
}

interface Start {
  readonly program: string;
  readonly options: DriverOptions;
  /** All that the browser keeps is in this folder, and goes with it. */
  readonly temporary: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The program that drives the browser, and the call that waits for it. */
class Driver {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  /** Resolves when all its processes have ended and its data is removed. */
  readonly gone: Promise<void>;
  isEnding = false;
  #count = 0;
  #waiting: ((answer: Answer) => void) | undefined;
  #errors = "";

  constructor({ program, options, temporary, environment }: Start) {
    const parameters = [program, JSON.stringify(options)];
    const env = { ...environment, TMPDIR: temporary };
    // Its own group, so that the browser goes with it.
    const child = spawn(process.execPath, parameters, { env, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.#child = child;
    child.stdin.on("error", () => undefined);
    child.stderr.on(
      "data",
      (chunk: Buffer) => (this.#errors = `${this.#errors}${chunk.toString()}`.slice(-maxErrorChars)),
    );
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(line));
    this.#ended = once(child, "close").then(
      () => Promise.reject(new ToolError(`The browser has ended; open the page again. ${this.#errors}`.trimEnd())),
      (error: unknown) => Promise.reject(error),
    );
    this.gone = once(child, "exit")
      .catch(() => undefined)
      // A browser whose driver is gone goes on for a while, and writes.
      .then(async () => killStartedWith(`TMPDIR=${temporary}`))
      .then(async () => rm(temporary, { recursive: true, force: true, maxRetries: 8, retryDelay: 250 }))
      .catch(() => undefined);
  }

  get isRunning(): boolean {
    return (
      !this.isEnding &&
      this.#child.exitCode === null &&
      this.#child.signalCode === null &&
      this.#child.pid !== undefined
    );
  }

  async ask(request: Omit<BrowserRequest, "id">): Promise<Answer> {
    this.#count += 1;
    const answered = new Promise<Answer>((resolve) => (this.#waiting = resolve));
    this.#child.stdin?.write(`${JSON.stringify({ ...request, id: this.#count })}\n`);
    return Promise.race([answered, this.#ended]);
  }

  /** It closes the browser and ends; one that does not in time is killed. */
  end(giveMs = endMs): void {
    this.isEnding = true;
    this.#child.stdin?.end();
    setTimeout(() => this.#child.kill("SIGKILL"), giveMs).unref();
  }

  #take(line: string): void {
    const answer = answerSchema.safeParse(asJson(line));
    // A browser that is stuck or speaks nonsense would not close by itself.
    if (!answer.success || answer.data.isLast) this.end(0);
    if (!answer.success) return;
    if (answer.data.id === this.#count) this.#waiting?.(answer.data);
  }
}

function asJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
