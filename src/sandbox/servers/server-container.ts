import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import type { ServerEnd, ServerStreams } from "./server-streams.ts";
import { toError } from "../../lib/app-error.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { memoize } from "../../lib/memoize.ts";
import type { ContainerStreams } from "../engine/engine.ts";
import type { LaunchedContainer } from "../launch/launched-container.ts";
import type { ErrorLines } from "./error-lines.ts";

export interface ServerContainerOptions {
  readonly launched: LaunchedContainer;
  readonly conversation: ContainerStreams;
  readonly errors: ErrorLines;
  /** Records the end and its reason. Rejects when that could not be recorded. */
  readonly stopped: (reason: string) => Promise<void>;
  /** The engine could not remove it. */
  readonly leftBehind: (error: Error) => void;
}

const byUs = "ended by crabpot";
/** From the end of its input until it is killed. */
const graceMs = 2_000;
/** Delay in which last lines arrive after the end. */
const lastLineMs = 1_000;

/** The container of an MCP server, while it runs and until it is removed. */
export class ServerContainer implements ServerStreams {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<ServerEnd>;
  readonly #options: ServerContainerOptions;
  readonly #end: () => Promise<void>;
  #reason: string | undefined;
  #isEnding = false;
  #isKilled = false;

  constructor(options: ServerContainerOptions) {
    this.#options = options;
    this.input = options.conversation.input;
    this.output = options.conversation.output;
    this.#end = memoize(() => this.#close());
    this.ended = this.#watch();
  }

  /** Ends it, for a reason that the operator is told. Later calls wait for the first one. */
  async stop(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    this.output.destroy();
  }

  /**
   * Whoever reads hears of the end first, and disposes us before the engine has said how it came: what it says then
   * counts.
   */
  async #watch(): Promise<ServerEnd> {
    const { code, oomKilled } = await this.#options.launched.exited;
    const isOurs = this.#reason !== undefined || this.#isKilled || (this.#isEnding && code === 0);
    void this.#end();
    if (isOurs) return { exitCode: code, reason: this.#reason ?? byUs };
    return { exitCode: code, reason: describeEnd(code, oomKilled), ...(await this.#lastLine()) };
  }

  async #lastLine(): Promise<{ readonly lastLine?: string }> {
    const { errors } = this.#options;
    const late = new AbortController();
    await Promise.race([errors.closed, sleep(lastLineMs, late.signal).catch(() => undefined)]);
    late.abort();
    const lastLine = errors.last();
    return lastLine === undefined ? {} : { lastLine };
  }

  async #close(): Promise<void> {
    const { launched, stopped, leftBehind } = this.#options;
    // A server whose output has ended has begun to end by itself.
    this.#isEnding = !this.output.readableEnded;
    this.input.end();
    const patience = AbortSignal.timeout(graceMs);
    const hasEnded = launched.exited.then(() => true);
    this.#isKilled = !(await Promise.race([hasEnded, once(patience, "abort").then(() => false)]));
    // An engine that has output which nobody takes waits with the end of a container.
    if (this.#isKilled) this.input.destroy();
    try {
      await launched.remove();
      await stopped((await this.ended).reason);
    } catch (error) {
      leftBehind(toError(error));
    } finally {
      // What it said last may still be read.
      this.input.destroy();
    }
  }
}

function describeEnd(code: number, oomKilled: boolean): string {
  if (oomKilled) return "out of memory";
  return code === 137 ? "killed, perhaps for lack of memory" : `exit code ${code}`;
}
