import type { Logger } from "pino";

import type { IncomingMessage, OutgoingMessage, Sign } from "../domain/message.ts";
import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Wait } from "../lib/wait.ts";
import { type AcceptMessage, type Channel, type ChannelEvents, type ChannelState, SendError } from "./channel.ts";
import type { Connection, ConnectionHost, Connector, Found, Receipt } from "./channel.ts";
import { type ReconnectLimits, ReconnectPolicy, reconnectLimits } from "./reconnect.ts";

export interface SupervisorLimits extends ReconnectLimits {
  /** A connection that is not there after so long is given up. */
  readonly connectMs: number;
  /** After so long a silence the platform is asked whether it is there. */
  readonly silenceMs: number;
  readonly probeMs: number;
  /** How long the end of the channel waits for a connection that does not close. */
  readonly closeMs: number;
}

export const supervisorLimits: SupervisorLimits = {
  ...reconnectLimits,
  connectMs: 60_000,
  silenceMs: 120_000,
  probeMs: 10_000,
  closeMs: 5_000,
};

export interface SupervisorParts {
  readonly clock: Clock;
  readonly wait: Wait;
  /** A number in 0..1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly limits?: SupervisorLimits;
}

const closingRetryAfterS = 5;

/**
 * Keeps a platform connected: `connecting → open ⇄ degraded → connecting …`, by way of `conflict` where another session
 * uses the account; `logged-out` and `closed` are left by a new start only. One connection at a time: the next one is begun
 * when the last one is closed, and an attempt that was given up has ended. What goes wrong in the platform's code ends its
 * connection and nothing else: neither `start` nor anything after it throws for that.
 */
export class SupervisedChannel implements Channel {
  readonly name: string;
  readonly idempotent: boolean;
  readonly #connector: Connector;
  readonly #parts: SupervisorParts;
  readonly #limits: SupervisorLimits;
  readonly #policy: ReconnectPolicy;
  readonly #stop = new AbortController();
  readonly #accepting = new Set<Promise<Receipt>>();
  #accept: AcceptMessage | undefined;
  #events: ChannelEvents | undefined;
  #running: Promise<void> | undefined;
  #connection: Connection | undefined;
  #state: ChannelState;
  #lastHeard = 0;
  /** Since when the connection is well; undefined while it is not. */
  #wellSince: number | undefined;
  /** The longest time that the current connection was well. */
  #wellMs = 0;

  constructor(connector: Connector, parts: SupervisorParts) {
    this.name = connector.name;
    this.idempotent = connector.idempotent;
    this.#connector = connector;
    this.#parts = parts;
    this.#limits = parts.limits ?? supervisorLimits;
    this.#policy = new ReconnectPolicy(this.#limits);
    this.#state = { state: "connecting", since: parts.clock.now() };
  }

  /** Begins to connect. Does not wait for it: a platform that is away holds nobody up. */
  async start(accept: AcceptMessage, events?: ChannelEvents): Promise<void> {
    if (this.#running || this.#stop.signal.aborted) return;
    this.#accept = accept;
    this.#events = events;
    this.#running = this.#run();
  }

  async send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    if (!this.#connection) throw new SendError(`The channel ${this.name} is not connected.`);
    await this.#connection.send(message, signal);
  }

  async reconcile(message: OutgoingMessage, signal: AbortSignal): Promise<Found> {
    if (!this.#connection) throw new SendError(`The channel ${this.name} is not connected.`);
    return (await this.#connection.reconcile?.(message, signal)) ?? "unknown";
  }

  async signal(chat: string, sign: Sign): Promise<void> {
    await this.#connection?.signal?.(chat, sign);
  }

  state(): ChannelState {
    return this.#state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new Error("the host is stopping"));
    const late = new AbortController();
    const tooLong = this.#parts.wait(this.#limits.closeMs, late.signal);
    await Promise.race([this.#running, tooLong]);
    late.abort();
    await Promise.allSettled(this.#accepting);
    this.#change("closed");
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let delayMs: number | undefined = 0; delayMs !== undefined;) {
      if (delayMs > 0) await this.#parts.wait(delayMs, signal);
      if (signal.aborted) return;
      this.#wellMs = 0;
      const end = await this.#live().catch((error: unknown) => toError(error));
      delayMs = this.#plan(end);
    }
  }

  /** Tells how a connection ended and says when to make the next one. */
  #plan(end: Error): number | undefined {
    if (this.#stop.signal.aborted) return undefined;
    const { state, delayMs, failures } = this.#policy.after(end, this.#wellMs, this.#parts.random());
    const facts = { channel: this.name, reason: end.message, failures };
    if (delayMs === undefined) {
      this.#change(state, end.message);
      this.#parts.logger.error({ ...facts, state }, "a channel is off and needs somebody to look at it");
      return undefined;
    }
    this.#change(state, `${end.message}; next try in ${Math.round(delayMs / 100) / 10} s, ${failures} failed in a row`);
    this.#parts.logger.warn(
      { ...facts, retryInMs: Math.round(delayMs) },
      "a channel is not connected; it is tried again",
    );
    return delayMs;
  }

  /** Makes a connection, stays until it ends, and closes it. Resolves with the reason, rejects with it if there was none. */
  async #live(): Promise<Error> {
    const over = new AbortController();
    try {
      const connection = await this.#connect(over.signal);
      this.#connection = connection;
      this.#lastHeard = this.#parts.clock.monotonic();
      this.#well();
      try {
        return await Promise.race([connection.ended, this.#stopped(over.signal), this.#watch(connection, over.signal)]);
      } finally {
        this.#connection = undefined;
        this.#unwell();
        over.abort();
        await this.#close(connection);
      }
    } finally {
      over.abort();
    }
  }

  async #stopped(over: AbortSignal): Promise<Error> {
    const { signal } = this.#stop;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { signal: over });
    });
    return toError(signal.reason);
  }

  /** `over`: the connection has ended; what it still has to say does not count. */
  async #connect(over: AbortSignal): Promise<Connection> {
    const [giveUp, settled] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([this.#stop.signal, giveUp.signal]);
    const giving = this.#giveUpInTime(giveUp, AbortSignal.any([settled.signal, this.#stop.signal]));
    try {
      const connection = await this.#connector.connect(this.#hostFor(over), signal);
      if (!signal.aborted) return connection;
      await this.#close(connection);
      throw toError(signal.reason);
    } finally {
      settled.abort();
      await giving;
    }
  }

  async #giveUpInTime(attempt: AbortController, settled: AbortSignal): Promise<void> {
    const { connectMs } = this.#limits;
    await this.#parts.wait(connectMs, settled);
    if (settled.aborted) return;
    attempt.abort(new Error(`not connected within ${connectMs} ms`));
    this.#change("connecting", "an attempt takes too long and is being ended");
  }

  async #close(connection: Connection): Promise<void> {
    try {
      await connection[Symbol.asyncDispose]();
    } catch (error) {
      this.#parts.logger.warn({ err: toError(error), channel: this.name }, "a connection did not close properly");
    }
  }

  #hostFor(over: AbortSignal): ConnectionHost {
    const heard = (): void => {
      this.#lastHeard = this.#parts.clock.monotonic();
    };
    return {
      accept: async (message) => {
        heard();
        return this.#take(message);
      },
      heard,
      delivered: (seq) => {
        heard();
        this.#events?.delivered(seq);
      },
      degraded: (reason) => {
        if (over.aborted || !this.#connection) return;
        if (reason === undefined) this.#well();
        else this.#unwell(reason);
      },
    };
  }

  async #take(message: IncomingMessage): Promise<Receipt> {
    if (!this.#accept || this.#stop.signal.aborted) {
      return { outcome: "refused", reason: "the host is stopping", retryAfterS: closingRetryAfterS, stopped: true };
    }
    const accepting = this.#accept(message);
    this.#accepting.add(accepting);
    try {
      return await accepting;
    } finally {
      this.#accepting.delete(accepting);
    }
  }

  /** Resolves when a platform that has been silent for long does not answer either. A quiet chat is no dead link. */
  async #watch(connection: Connection, over: AbortSignal): Promise<Error> {
    const { silenceMs } = this.#limits;
    if (!connection.probe) return new Promise<never>(() => undefined);
    for (;;) {
      const silentMs = this.#parts.clock.monotonic() - this.#lastHeard;
      await this.#parts.wait(Math.max(0, Math.ceil(silenceMs - silentMs)), over);
      if (over.aborted) return new Error("the connection has ended");
      if (this.#parts.clock.monotonic() - this.#lastHeard < silenceMs) continue;
      const failure = await this.#probe(connection, over);
      if (failure) return new Error(`nothing was heard for a while, and ${failure.message}`);
      this.#lastHeard = this.#parts.clock.monotonic();
    }
  }

  async #probe(connection: Connection, over: AbortSignal): Promise<Error | undefined> {
    const { probeMs } = this.#limits;
    const answered = new AbortController();
    const signal = AbortSignal.any([over, answered.signal]);
    const silence = this.#parts.wait(probeMs, signal).then(() => new Error(`there was no answer within ${probeMs} ms`));
    const answer = async (): Promise<Error | undefined> => {
      await connection.probe?.(signal);
      return undefined;
    };
    try {
      return await Promise.race([silence, answer()]);
    } catch (error) {
      return toError(error);
    } finally {
      answered.abort();
    }
  }

  #well(): void {
    this.#wellSince ??= this.#parts.clock.monotonic();
    this.#change("open");
  }

  /** Notes how long the connection was well; with a reason, it is there but works only partly. */
  #unwell(reason?: string): void {
    if (this.#wellSince !== undefined) {
      this.#wellMs = Math.max(this.#wellMs, this.#parts.clock.monotonic() - this.#wellSince);
    }
    this.#wellSince = undefined;
    if (reason !== undefined) this.#change("degraded", reason);
  }

  #change(state: ChannelState["state"], detail?: string): void {
    const before = this.#state;
    const since = before.state === state ? before.since : this.#parts.clock.now();
    this.#state = { state, since, detail };
    if (before.state !== state) this.#events?.changed(this.#state);
  }
}
