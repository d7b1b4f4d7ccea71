import { PassThrough } from "node:stream";

import type { ServerSentEvent } from "../../../operations/definition/define-operation.ts";
import type { LoopLane } from "../../../lib/loop-lane.ts";

/** Limits of a subscriber. */
export interface EventStreamLimits {
  /** Between two signs of life where nothing happens. */
  readonly heartbeatMs: number;
  /** A subscriber who takes nothing for so long is cut off. */
  readonly slowMs: number;
  /** Time that the connection stays open after the last event. */
  readonly goodbyeMs: number;
}

export const eventStreamLimits: EventStreamLimits = { heartbeatMs: 15_000, slowMs: 30_000, goodbyeMs: 1_000 };

/** Reason of the end. */
export type StreamEnd = "left" | "slow" | "stopping" | "failed";

/** Browsers come back after so long. */
const retryMs = 3_000;

/**
 * Events on their way to one subscriber, as server-sent events (WHATWG HTML, 9.2). What waits is bounded: who writes
 * waits until it is taken. One that takes nothing for too long is told why it is cut off, and is.
 */
export class EventStream {
  readonly body = new PassThrough();
  readonly #limits: EventStreamLimits;
  readonly #lane: LoopLane;
  readonly #ended = Promise.withResolvers<StreamEnd>();
  readonly #over = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #room: Promise<void> | undefined;

  /** The lane is that of all streams: many of them find room at once. */
  constructor(limits: EventStreamLimits, lane: LoopLane) {
    this.#limits = limits;
    this.#lane = lane;
    this.#heartbeat = setInterval(() => this.#beat(), limits.heartbeatMs).unref();
    this.body.on("error", () => this.end("left"));
    this.body.write(`retry: ${retryMs}\n\n`);
  }

  /** Aborted when it ends. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get ended(): Promise<StreamEnd> {
    return this.#ended.promise;
  }

  /** Resolves when there is room for more, or when it has ended. */
  async send(event: ServerSentEvent): Promise<void> {
    await this.#room;
    if (this.#over.signal.aborted) return;
    const name = event.event === undefined ? "" : `event: ${event.event}\n`;
    const id = event.id === undefined ? "" : `id: ${event.id}\n`;
    // JSON has no line its own breaks.
    if (this.body.write(`${id}${name}data: ${JSON.stringify(event.data)}\n\n`)) return;
    await (this.#room ??= this.#untilTaken());
  }

  /** With a last event that says why, unless the subscriber has left. */
  end(why: StreamEnd): void {
    if (this.#over.signal.aborted) return;
    clearInterval(this.#heartbeat);
    this.#over.abort();
    this.#ended.resolve(why);
    if (why === "left") return void this.body.destroy();
    const goodbye = setTimeout(() => this.body.destroy(), this.#limits.goodbyeMs).unref();
    this.body.once("close", () => clearTimeout(goodbye));
    this.body.end(`event: end\ndata: ${JSON.stringify({ reason: why })}\n\n`);
  }

  #beat(): void {
    if (this.body.writableLength === 0) this.body.write(": still here\n\n");
  }

  async #untilTaken(): Promise<void> {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const slow = setTimeout(() => this.end("slow"), this.#limits.slowMs).unref();
    this.body.once("drain", resolve);
    this.signal.addEventListener("abort", () => resolve(), { once: true });
    await taken;
    clearTimeout(slow);
    this.body.off("drain", resolve);
    await this.#lane.enter();
    this.#room = undefined;
  }
}
