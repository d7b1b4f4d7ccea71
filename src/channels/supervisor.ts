import { once } from "node:events";

import type { Logger } from "pino";

import type { OutgoingMessage, OutgoingReaction, ProgressLine, Sign } from "../domain/chats/message.ts";
import { AppError, toError } from "../lib/app-error.ts";
import { type AcceptMessage, type Channel, type ChannelEvents, type ChannelState, SendError } from "./channel.ts";
import type {
  Connection,
  ConnectionHost,
  Connector,
  Reconciliation,
  LoginEvent,
  LoginOptions,
  Receipt,
} from "./channel.ts";
import { ConnectionEnd } from "./channel.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Sleep } from "../lib/time/sleep.ts";
import { type ReconnectLimits, ReconnectPolicy, reconnectLimits } from "./reconnect.ts";
import { Silence, type SilenceLimits } from "./silence.ts";

const closingRetryAfterS = 5;

export interface SupervisorLimits extends ReconnectLimits, SilenceLimits {
  /** Time limit for a connection to open. */
  readonly connectMs: number;
  /** Time limit for a connection to close when the channel ends. */
  readonly closeMs: number;
}

export const supervisorLimits: SupervisorLimits = {
  ...reconnectLimits,
  connectMs: 60_000,
  silenceMs: 120_000,
  probeMs: 10_000,
  closeMs: 5_000,
};

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly wait: Sleep;
  /** A number in 0..1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly limits?: SupervisorLimits;
}

/**
 * Keeps a platform connected: `connecting → open ⇄ degraded → connecting …`, by way of `conflict` where another session
 * uses the account; `logged-out` and `closed` are left by a new start only. One connection at a time: the next one is
 * begun when the last one is closed, and an attempt that was given up has ended. What goes wrong in the platform's code
 * ends its connection and nothing else: neither `start` nor anything after it throws for that.
 */
export class SupervisedChannel implements Channel {
  readonly name: string;
  readonly #connector: Connector;
  readonly #options: SupervisorOptions;
  readonly #limits: SupervisorLimits;
  readonly #policy: ReconnectPolicy;
  readonly #stop = new AbortController();
  readonly #accepting = new Set<Promise<Receipt>>();
  #accept: AcceptMessage | undefined;
  #events: ChannelEvents | undefined;
  #running: Promise<void> | undefined;
  #connection: Connection | undefined;
  #state: ChannelState;
  readonly #silence: Silence;
  /** Connecting, connected or waiting for the next try. */
  #isActive = false;
  #linking: Promise<void> | undefined;
  #stateChange = Promise.withResolvers<void>();
  /** Since when the connection is well; undefined while it is not. */
  #wellSince: number | undefined;
  /** The longest time that the current connection was well. */
  #wellMs = 0;

  constructor(connector: Connector, options: SupervisorOptions) {
    this.name = connector.name;
    this.#connector = connector;
    this.#options = options;
    this.#limits = options.limits ?? supervisorLimits;
    this.#policy = new ReconnectPolicy(this.#limits);
    this.#silence = new Silence({ ...options, limits: this.#limits });
    this.#state = { state: "connecting", since: options.clock.now() };
  }

  get idempotent(): boolean {
    return this.#connector.idempotent;
  }

  /** Starts connecting without waiting for it, so that a platform that is away delays nobody. */
  async start(accept: AcceptMessage, events?: ChannelEvents): Promise<void> {
    if (this.#running || this.#stop.signal.aborted) return;
    this.#accept = accept;
    this.#events = events;
    this.#running = this.#run();
  }

  async send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    await this.#connected().send(message, signal);
  }

  async reconcile(message: OutgoingMessage, signal: AbortSignal): Promise<Reconciliation> {
    return (await this.#connected().reconcile?.(message, signal)) ?? "unknown";
  }

  #connected(): Connection {
    if (this.#connection) return this.#connection;
    throw new SendError(`The channel ${this.name} is not connected.`);
  }

  async signal(chat: string, sign: Sign): Promise<void> {
    await this.#connection?.signal?.(chat, sign);
  }

  async react(chat: string, reaction: OutgoingReaction): Promise<void> {
    await this.#connection?.react?.(chat, reaction);
  }

  async showProgress(chat: string, line: ProgressLine): Promise<void> {
    await this.#connection?.showProgress?.(chat, line);
  }

  get showDelta(): Connection["showDelta"] {
    return this.#connection?.showDelta;
  }

  state(): ChannelState {
    return this.#state;
  }

  /** One at a time. A channel that is connected, or still tries, only tells its state. */
  async *login(signal: AbortSignal, options: LoginOptions = {}): AsyncGenerator<LoginEvent> {
    const leave = AbortSignal.any([signal, this.#stop.signal]);
    await this.#firstTry(leave);
    if (this.#linking) throw new AppError("conflict", `The channel ${this.name} is already being linked.`);
    if (!this.#isActive && !leave.aborted && this.#accept) {
      yield* this.#link(leave, options);
      await this.#firstTry(leave);
    }
    const { state, detail } = this.#state;
    yield { state, detail: detail ?? (this.#connector.link ? undefined : `The channel ${this.name} needs no login.`) };
  }

  /** Resolves when something has come of the attempt that is being made, if there is one. */
  async #firstTry(leave: AbortSignal): Promise<void> {
    const left = once(leave, "abort").catch(() => undefined);
    while (this.#isActive && this.#state.state === "connecting" && !this.#state.detail && !leave.aborted) {
      await Promise.race([this.#stateChange.promise, left]);
    }
  }

  /** Reconnects at the end, even when nobody listens anymore: linking may have worked. */
  async *#link(leave: AbortSignal, options: LoginOptions): AsyncGenerator<LoginEvent> {
    const linked = Promise.withResolvers<void>();
    this.#linking = linked.promise;
    let failure: string | undefined;
    try {
      if (this.#connector.link) yield* this.#connector.link(options, leave);
    } catch (error) {
      failure = toError(error).message;
    } finally {
      this.#linking = undefined;
      linked.resolve();
      this.#change(failure === undefined ? "connecting" : this.#state.state, failure);
      if (failure === undefined && !this.#stop.signal.aborted) this.#running = this.#run();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new Error("the host is stopping"));
    const late = new AbortController();
    const tooLong = this.#options.wait(this.#limits.closeMs, late.signal);
    await Promise.race([Promise.all([this.#running, this.#linking]), tooLong]);
    late.abort();
    await Promise.allSettled(this.#accepting);
    this.#change("closed");
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    this.#isActive = true;
    for (let delayMs: number | undefined = 0; delayMs !== undefined;) {
      if (delayMs > 0) await this.#options.wait(delayMs, signal);
      if (signal.aborted) return;
      this.#wellMs = 0;
      const end = await this.#live().catch((error: unknown) => toError(error));
      delayMs = this.#plan(end);
    }
    this.#isActive = false;
  }

  /** Tells how a connection ended and says when to make the next one. */
  #plan(end: Error): number | undefined {
    if (this.#stop.signal.aborted) return undefined;
    const { state, delayMs, failures } = this.#policy.after(end, this.#wellMs, this.#options.random());
    const facts = { channel: this.name, reason: end.message, failures };
    const isAlarm = end instanceof ConnectionEnd && end.isAlarm;
    if (isAlarm) this.#events?.needsOperator?.(end.message);
    if (delayMs === undefined) {
      this.#isActive = false;
      this.#change(state, end.message);
      const level = isAlarm ? "error" : "warn";
      this.#options.logger[level]({ ...facts, state }, "channel stopped; operator action needed");
      return undefined;
    }
    this.#change(state, `${end.message}; next try in ${Math.round(delayMs / 100) / 10} s, ${failures} failed in a row`);
    this.#options.logger.warn({ ...facts, retryInMs: Math.round(delayMs) }, "a channel is not connected; retrying");
    return delayMs;
  }

  /**
   * Makes a connection, stays until it ends, and closes it. Resolves with the reason, rejects with it if there was
   * none.
   */
  async #live(): Promise<Error> {
    const over = new AbortController();
    try {
      const connection = await this.#connect(over.signal);
      this.#connection = connection;
      this.#silence.heard();
      this.#well();
      const silent = this.#silence.watch(connection, over.signal);
      try {
        return await Promise.race([connection.ended, this.#stopped(over.signal), silent]);
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
    if (!signal.aborted) await once(signal, "abort", { signal: over }).catch(() => undefined);
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
    await this.#options.wait(connectMs, settled);
    if (settled.aborted) return;
    attempt.abort(new Error(`not connected within ${connectMs} ms`));
    this.#change("connecting", "an attempt is taking too long; ending it");
  }

  async #close(connection: Connection): Promise<void> {
    try {
      await connection[Symbol.asyncDispose]();
    } catch (error) {
      this.#options.logger.warn({ err: toError(error), channel: this.name }, "a connection did not close properly");
    }
  }

  #hostFor(over: AbortSignal): ConnectionHost {
    const heard = (): void => this.#silence.heard();
    return {
      accept: async (message) => {
        heard();
        return this.#take(() => this.#accept?.(message));
      },
      reacted:
        this.#events?.reacted &&
        (async (reaction) => {
          heard();
          return this.#take(() => this.#events?.reacted?.(reaction));
        }),
      heard,
      delivered: (seq) => {
        heard();
        this.#events?.delivered(seq);
      },
      chatChanged: (facts) => {
        heard();
        this.#events?.chatChanged?.(facts);
      },
      degraded: (reason) => {
        if (over.aborted || !this.#connection) return;
        if (reason === undefined) this.#well();
        else this.#unwell(reason);
      },
    };
  }

  async #take(offer: () => Promise<Receipt> | undefined): Promise<Receipt> {
    const accepting = this.#stop.signal.aborted ? undefined : offer();
    if (!accepting) {
      return { outcome: "refused", reason: "the host is stopping", retryAfterS: closingRetryAfterS, stopped: true };
    }
    this.#accepting.add(accepting);
    try {
      return await accepting;
    } finally {
      this.#accepting.delete(accepting);
    }
  }

  #well(): void {
    this.#wellSince ??= this.#options.clock.monotonic();
    this.#change("open", this.#connection?.remark);
  }

  /** Ends a healthy period; with a reason, the connection is degraded. */
  #unwell(reason?: string): void {
    if (this.#wellSince !== undefined) {
      this.#wellMs = Math.max(this.#wellMs, this.#options.clock.monotonic() - this.#wellSince);
    }
    this.#wellSince = undefined;
    if (reason !== undefined) this.#change("degraded", reason);
  }

  #change(state: ChannelState["state"], detail?: string): void {
    const before = this.#state;
    const since = before.state === state ? before.since : this.#options.clock.now();
    this.#state = { state, since, detail };
    if (before.state !== state) this.#events?.changed(this.#state);
    this.#stateChange.resolve();
    this.#stateChange = Promise.withResolvers();
  }
}
