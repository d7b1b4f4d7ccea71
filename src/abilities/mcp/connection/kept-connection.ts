import type { FilledForm, FormRequest } from "../../../domain/rights/form.ts";
import type { McpServer } from "../../../domain/sandbox/mcp-server.ts";
import { toError } from "../../../lib/app-error.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";
import { backoffMs } from "../../../lib/time/backoff.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import { ToolError } from "../../../protocol/tools.ts";
import type { McpConnection, Listed } from "./connection.ts";

const backoff = { firstMs: 1_000, longestMs: 300_000 };
/** Time that a call waits for a server to restart. */
const patienceMs = 20_000;
/** Time that a turn waits for a changed list. */
const listPatienceMs = 2_000;
/** A start that takes longer, with what it lists, has failed. */
const openMs = 120_000;

/** The server's last lists. */
export interface Lists {
  readonly tools: Listed;
  /** It has resources, or prompts. */
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
}

export type ConnectionState = "closed" | "opening" | "open" | "failed";

/** A call of a turn's, and who can be asked while it runs. */
export interface AskingCall {
  readonly turn: string;
  readonly tool: string;
  readonly ask: (form: FormRequest, signal: AbortSignal) => Promise<FilledForm>;
}

export interface KeptConnectionOptions {
  readonly server: McpServer;
  readonly open: (onToolsChanged: () => void, signal: AbortSignal) => Promise<McpConnection>;
  readonly idleMs: () => number;
  /** There is a new list, or the connection has opened. Awaited before anybody goes on. */
  readonly listed: (lists: Lists, connection: McpConnection) => Promise<void>;
  /** It could not be opened, or was lost. */
  readonly failed: (reason: string) => void;
  readonly ended: (reason: string) => void;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}

/**
 * Keeps a connection with a server: opened on demand, closed when idle, reopened with back-off when lost. A loss fails
 * only the running calls.
 */
export class KeptConnection implements AsyncDisposable {
  readonly server: McpServer;
  readonly #options: KeptConnectionOptions;
  readonly #disposed = new AbortController();
  #connection: McpConnection | undefined;
  #opening: Promise<void> | undefined;
  #openingSince = 0;
  #fault: string | undefined;
  #failures = 0;
  #retryAt = 0;
  #users = 0;
  readonly #calls = new Set<AskingCall>();
  #idle: NodeJS.Timeout | undefined;
  #listing: Promise<void> | undefined;
  #listingSince = 0;
  #isOutdated = false;

  constructor(options: KeptConnectionOptions) {
    this.server = options.server;
    this.#options = options;
  }

  get state(): ConnectionState {
    if (this.#connection) return "open";
    if (this.#opening) return "opening";
    return this.#fault === undefined ? "closed" : "failed";
  }

  /** Reason why it is closed. */
  get fault(): string | undefined {
    return this.#connection ? undefined : this.#fault;
  }

  /** Begins to open it if it is not, and waits at most so long since that began. Never rejects. */
  async ready(limitMs: number): Promise<void> {
    if (this.#connection) return this.#listedAgain();
    if (!this.#opening && this.#options.clock.monotonic() < this.#retryAt) return;
    await this.#within(this.#open(), this.#openingSince + limitMs);
  }

  /** A list that is on its way is worth a moment, so that what has just come is there. */
  async #listedAgain(): Promise<void> {
    this.#touch();
    if (this.#listing) await this.#within(this.#listing, this.#listingSince + listPatienceMs);
  }

  async #within(work: Promise<void>, until: number): Promise<void> {
    const leftMs = until - this.#options.clock.monotonic();
    if (leftMs <= 0) return;
    const over = new AbortController();
    await Promise.race([work.catch(() => undefined), sleep(leftMs, over.signal)]);
    over.abort();
  }

  /** Does something with the open connection. Throws ToolError with why it cannot be had, or was lost meanwhile. */
  async use<Result>(
    signal: AbortSignal,
    work: (connection: McpConnection) => Promise<Result>,
    call?: AskingCall,
  ): Promise<Result> {
    const connection = await this.#opened(signal);
    this.#users += 1;
    if (call) this.#calls.add(call);
    this.#touch();
    try {
      return await work(connection);
    } catch (error) {
      if (signal.aborted) throw toError(signal.reason);
      if (error instanceof ToolError) throw error;
      const { name } = this.server;
      if (this.#connection !== connection)
        throw new ToolError(
          `The server ${name} ended while it worked: ${this.#fault ?? "no reason is known"}. What it had done by then is not known.`,
        );
      throw new ToolError(`${name} refused: ${plainSentence(toError(error).message)}`);
    } finally {
      this.#users -= 1;
      if (call) this.#calls.delete(call);
      this.#touch();
    }
  }

  /**
   * Asks the people of the turn whose call runs. A server does not say which call it asks for, so with calls of several
   * turns nobody is asked.
   */
  async elicit(request: Pick<FormRequest, "message" | "wants">, signal: AbortSignal): Promise<FilledForm> {
    const calls = [...this.#calls];
    const [call] = calls;
    if (!call) throw new Error("people are asked only while a tool is called");
    if (calls.some(({ turn }) => turn !== call.turn))
      throw new Error("several conversations use this server now, so it is not known whom to ask");
    const mayAskText = this.server.forms === "text";
    return call.ask({ server: this.server.name, tool: call.tool, mayAskText, ...request }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new Error("it is not needed anymore"));
    clearTimeout(this.#idle);
    await this.#opening?.catch(() => undefined);
    await this.#listing?.catch(() => undefined);
    await this.#close("crabpot does not need it anymore");
  }

  async #opened(signal: AbortSignal): Promise<McpConnection> {
    const { name } = this.server;
    const waitMs = this.#retryAt - this.#options.clock.monotonic();
    if (!this.#connection && !this.#opening && waitMs > 0) {
      if (waitMs > patienceMs) throw new ToolError(this.#unreachable(waitMs));
      await sleep(waitMs, signal);
    }
    signal.throwIfAborted();
    await Promise.race([this.#open().catch(() => undefined), sleep(patienceMs, signal)]);
    signal.throwIfAborted();
    if (this.#connection) return this.#connection;
    if (this.#opening) throw new ToolError(`The server ${name} is still starting. Try again later, or do without it.`);
    throw new ToolError(this.#unreachable(this.#retryAt - this.#options.clock.monotonic()));
  }

  #unreachable(waitMs: number): string {
    const later = waitMs > 0 ? ` It can be tried again in ${Math.ceil(waitMs / 1_000)} s.` : "";
    return `The server ${this.server.name} cannot be reached: ${this.#fault ?? "it has ended"}.${later}`;
  }

  #open(): Promise<void> {
    if (this.#connection) return Promise.resolve();
    if (!this.#opening) {
      this.#openingSince = this.#options.clock.monotonic();
      this.#opening = this.#openNow().finally(() => (this.#opening = undefined));
      this.#opening.catch(() => undefined);
    }
    return this.#opening;
  }

  async #openNow(): Promise<void> {
    const signal = AbortSignal.any([this.#disposed.signal, AbortSignal.timeout(openMs)]);
    try {
      signal.throwIfAborted();
      const connection = await this.#options.open(() => this.#listsChanged(), signal);
      try {
        await this.#options.listed(await listsOf(connection, signal), connection);
        signal.throwIfAborted();
      } catch (error) {
        await connection[Symbol.asyncDispose]();
        throw error;
      }
      this.#connection = connection;
      this.#fault = undefined;
      this.#failures = 0;
      void connection.closed.then(() => this.#lost(connection));
      this.#touch();
    } catch (error) {
      if (this.#disposed.signal.aborted) throw error;
      this.#failed(plainSentence(toError(error).message));
      throw error;
    }
  }

  #failed(reason: string): void {
    this.#failures += 1;
    this.#fault = reason;
    this.#retryAt = this.#options.clock.monotonic() + backoffMs(backoff, this.#failures);
    this.#options.failed(reason);
  }

  /** Handles an end by the server; the next use reopens it. */
  #lost(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    clearTimeout(this.#idle);
    this.#failed(plainSentence(connection.whyClosed() ?? "it ended by itself"));
  }

  /** Once at a time; what changes meanwhile is looked at once more. */
  #listsChanged(): void {
    this.#isOutdated = true;
    if (!this.#listing) this.#listingSince = this.#options.clock.monotonic();
    this.#listing ??= this.#listAgain().finally(() => (this.#listing = undefined));
  }

  async #listAgain(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    while (this.#isOutdated && this.#connection) {
      this.#isOutdated = false;
      const connection = this.#connection;
      try {
        await this.#options.listed(await listsOf(connection, this.#disposed.signal), connection);
      } catch (error) {
        if (this.#connection === connection && !this.#disposed.signal.aborted)
          await this.#close(`its tools could not be listed: ${plainSentence(toError(error).message)}`);
      }
    }
  }

  #touch(): void {
    clearTimeout(this.#idle);
    if (!this.#connection || this.#users > 0) return;
    this.#idle = setTimeout(() => void this.#close("nobody has used it for a while"), this.#options.idleMs());
    this.#idle.unref();
  }

  async #close(reason: string): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    clearTimeout(this.#idle);
    if (!connection) return;
    await connection[Symbol.asyncDispose]();
    this.#options.ended(reason);
  }
}

async function listsOf(connection: McpConnection, signal: AbortSignal): Promise<Lists> {
  const { capabilities } = connection;
  return {
    tools: await connection.listTools(signal),
    hasResources: capabilities.resources !== undefined,
    hasPrompts: capabilities.prompts !== undefined,
  };
}
