import type * as z from "zod";

import { type FailureCodec, plainFailures } from "./failures.ts";
import type { Frame, Side } from "./protocol.ts";
import type { Wire } from "./wires.ts";

/** Facts about a call for its handler, besides the value. */
export interface CallContext {
  /** Aborted when nobody waits for the answer. */
  readonly signal: AbortSignal;
  /** Its number, which news about it carry. */
  readonly id: number;
  /** Answers for the call of this end that it belongs to, while that one has no answer. */
  readonly onAsked: CallOptions["onAsked"];
}

/** The value of a call, as whoever answers it gets it. */
export type CallValue<Local extends Side, Name extends keyof Local["calls"]> = z.output<Local["calls"][Name]["input"]>;

/** Answers the calls that come in. */
export type Answers<Local extends Side> = {
  readonly [Name in keyof Local["calls"]]: (
    value: CallValue<Local, Name>,
    context: CallContext,
  ) => Promise<z.input<Local["calls"][Name]["output"]>>;
};

/** Takes the news that come in. What is still being done with one counts as work of the line. */
export type Listeners<Local extends Side> = {
  readonly [Name in keyof Local["news"]]: (value: z.output<Local["news"][Name]>, of: number) => unknown;
};

export interface LineLimits {
  /** Calls of the other end that may be without an answer at once. */
  readonly servedCalls: number;
  /** Calls of this end that may; more are rejected. */
  readonly openCalls: number;
  /** Bytes that the other end has not taken yet; while there are more, calls are rejected. */
  readonly waitingBytes: number;
}

export interface LineOptions<Local extends Side, Remote extends Side> {
  readonly wire: Wire;
  readonly local: Local;
  readonly remote: Remote;
  readonly answers: Answers<Local>;
  readonly listeners: Listeners<Local>;
  readonly limits: LineLimits;
  /** The errors of the host's own kinds that cross; others keep their message. */
  readonly failures?: FailureCodec | undefined;
  /** The other end breaks the rules. */
  readonly onFault: (reason: string) => void;
  /** Answers that nothing here has asked for are no fault of the other end: code beside us writes to the same line. */
  readonly allowsStrays?: boolean | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly of?: number | undefined;
  /** Takes the news about this call until it is answered. */
  readonly onNews?: ((name: string, value: unknown) => void) | undefined;
  /** Answers what the other end asks on its behalf until then. */
  readonly onAsked?: ((name: string, value: unknown) => Promise<unknown>) | undefined;
  /** Buffers that go over to a thread instead of being copied. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

interface Pending {
  readonly name: string;
  readonly answer: PromiseWithResolvers<unknown>;
  readonly options: CallOptions;
}

/** The process, or the thread, of the other end has ended. */
export class ProcessEnded extends Error {
  override readonly name = "ProcessEnded";
}

/** Thrown for an answer that does not fit the call. */
export class InvalidAnswer extends Error {
  override readonly name = "InvalidAnswer";
}

/**
 * One end of the line between two processes, or a thread and its process: calls both ways in the order in which they
 * are made, answers as they come, and news. Everything that comes in is checked. When the other end is gone, `close`
 * fails the calls that have no answer.
 */
export class Line<Local extends Side = Side, Remote extends Side = Side> {
  readonly #options: LineOptions<Local, Remote>;
  readonly #failures: FailureCodec;
  readonly #pending = new Map<number, Pending>();
  /** Calls that were given up and may still be answered. */
  readonly #cancelled = new Set<number>();
  readonly #serving = new Map<number, AbortController>();
  readonly #working = new Set<Promise<void>>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(options: LineOptions<Local, Remote>) {
    this.#options = options;
    this.#failures = options.failures ?? plainFailures;
  }

  /** Calls of this end that have no answer. */
  get open(): number {
    return this.#pending.size;
  }

  async call<Name extends keyof Remote["calls"] & string>(
    name: Name,
    value: z.input<Remote["calls"][Name]["input"]>,
    options: CallOptions = {},
  ): Promise<z.output<Remote["calls"][Name]["output"]>> {
    const { signal, of, transfer } = options;
    this.#requireRoom();
    signal?.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, { name, answer, options });
    const giveUp = (): void => {
      if (!this.#pending.delete(id)) return;
      this.#cancelled.add(id);
      this.#post({ cancel: id });
      answer.reject(signal?.reason);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      this.#post({ call: name, id, of, value }, transfer);
      return (await answer.promise) as z.output<Remote["calls"][Name]["output"]>;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Passes on news, for which there is no answer; after the end of the other side they go nowhere. */
  tell<Name extends keyof Remote["news"] & string>(name: Name, value: z.input<Remote["news"][Name]>, of = 0): void {
    if (!this.#closed) this.#post({ tell: name, of, value });
  }

  receive(frame: Frame): void {
    if (this.#closed) return;
    if ("call" in frame) this.#serve(frame);
    else if ("tell" in frame) this.#hear(frame);
    else if ("cancel" in frame) this.#serving.get(frame.cancel)?.abort(new Error("nobody waits for the answer"));
    else if ("answer" in frame) this.#settle(frame.answer, (pending) => this.#resolve(pending, frame.value));
    else if ("failure" in frame)
      this.#settle(frame.failure, ({ answer }) => answer.reject(this.#failures.decode(frame.error)));
  }

  /** Resolves when everything that came from the other end is done. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
  }

  close(reason: Error): void {
    if (this.#closed) return;
    this.#closed = reason;
    for (const { answer } of this.#pending.values()) answer.reject(reason);
    this.#pending.clear();
    for (const controller of this.#serving.values()) controller.abort(reason);
  }

  #requireRoom(): void {
    const { limits, wire } = this.#options;
    if (this.#closed) throw this.#closed;
    if (this.#pending.size >= limits.openCalls) throw new Error("too many calls have no answer yet");
    if (wire.waitingBytes > limits.waitingBytes) throw new Error("it does not read what it is sent");
  }

  #settle(id: number, how: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (pending) how(pending);
    else if (!this.#cancelled.delete(id) && this.#options.allowsStrays !== true)
      this.#options.onFault("it answered what was not asked");
  }

  #resolve({ name, answer }: Pending, value: unknown): void {
    const parsed = this.#options.remote.calls[name]?.output.safeParse(value);
    if (parsed?.success) answer.resolve(parsed.data);
    else answer.reject(new InvalidAnswer(`the answer to ${name} is not valid: ${placeOf(parsed?.error)}`));
  }

  #hear({ tell, of, value }: Extract<Frame, { tell: string }>): void {
    const { local, listeners } = this.#options;
    if (!Object.hasOwn(local.news, tell)) return;
    const parsed = local.news[tell]?.safeParse(value);
    if (!parsed?.success) return;
    const onNews = this.#pending.get(of)?.options.onNews;
    if (onNews) return onNews(tell, parsed.data);
    this.#track(Promise.try(listeners[tell] as (value: unknown, of: number) => unknown, parsed.data, of));
  }

  #serve({ call, id, of, value }: Extract<Frame, { call: string }>): void {
    const { servedCalls } = this.#options.limits;
    if (this.#serving.size >= servedCalls || this.#serving.has(id))
      return this.#options.onFault(`it made more than ${servedCalls} calls at once`);
    const controller = new AbortController();
    this.#serving.set(id, controller);
    const onAsked = of === undefined ? undefined : this.#pending.get(of)?.options.onAsked;
    const context = { signal: controller.signal, id, onAsked };
    this.#track(this.#answer(call, value, context).finally(() => this.#serving.delete(id)));
  }

  #track(work: Promise<unknown>): void {
    const tracked: Promise<void> = work
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }

  async #answer(name: string, value: unknown, context: CallContext): Promise<void> {
    const { id } = context;
    const answer: Frame = await this.#run(name, value, context).then(
      (result) => ({ answer: id, value: result ?? null }),
      (error: unknown) => ({ failure: id, error: this.#failures.encode(error) }),
    );
    if (!this.#closed) this.#post(answer);
  }

  async #run(name: string, value: unknown, context: CallContext): Promise<unknown> {
    const { local, answers } = this.#options;
    if (!Object.hasOwn(local.calls, name)) throw new Error(`there is no call ${name}`);
    const parsed = local.calls[name]?.input.safeParse(value);
    if (!parsed?.success) throw new Error(`the value of ${name} is not valid: ${placeOf(parsed?.error)}`);
    return (answers[name] as (value: unknown, context: CallContext) => Promise<unknown>)(parsed.data, context);
  }

  #post(frame: Frame, transfer?: readonly ArrayBuffer[]): void {
    if (!this.#options.wire.send(frame, transfer)) this.close(new Error("the other process has ended"));
  }
}

function placeOf(error: z.ZodError | undefined): string {
  return error?.issues[0]?.path.join(".") ?? "";
}
