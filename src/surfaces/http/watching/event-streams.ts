import type { Readable } from "node:stream";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { EventData, Publish } from "../../../domain/events/event.ts";
import { addressActor } from "../../../domain/people/actor.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { LoopLane } from "../../../lib/loop-lane.ts";
import type { ServerSentEvent } from "../../../operations/definition/define-operation.ts";
import { EventStream, type EventStreamLimits, eventStreamLimits } from "./event-stream.ts";

export interface EventStreamOptions {
  readonly publish: Publish<"watch.opened" | "watch.ended">;
  readonly onFault: (error: Error) => void;
  readonly limits?: EventStreamLimits | undefined;
  /** Maximum number. */
  readonly most?: number | undefined;
}

/** Parameters and pieces of a stream. */
interface Subscription {
  /** Parameters, for the record. */
  readonly asked: EventData["watch.opened"];
  /** Rejects at once where something is wrong with the parameters. */
  readonly follow: (signal: AbortSignal) => Promise<AsyncIterable<ServerSentEvent>>;
}

const usualMost = 64;

/** Answers that come in pieces, as server-sent events: how many there are, and their beginning and end on record. */
export class EventStreams {
  readonly #options: EventStreamOptions;
  readonly #lane = new LoopLane();
  readonly #streams = new Set<EventStream>();
  readonly #ending = new Set<Promise<void>>();

  constructor(routes: FastifyInstance, options: EventStreamOptions) {
    this.#options = options;
    routes.addHook("preClose", async () => {
      for (const stream of this.#streams) stream.end("stopping");
    });
    routes.addHook("onClose", async () => void (await Promise.all(this.#ending)));
  }

  /** Begins a stream. It is on record first; later pieces are in the stream, wherever they begin. */
  async open({ ip }: FastifyRequest, reply: FastifyReply, { asked, follow }: Subscription): Promise<Readable> {
    const { publish, limits = eventStreamLimits, most = usualMost } = this.#options;
    if (this.#streams.size >= most)
      throw new AppError("rate_limited", `Too many subscribers: the limit of ${most} is reached.`);
    const stream = new EventStream(limits, this.#lane);
    this.#streams.add(stream);
    const actor = addressActor(ip);
    try {
      const pieces = await follow(stream.signal);
      await publish({ type: "watch.opened", actor, data: asked });
      reply.raw.once("close", () => stream.end("left"));
      void this.#fill(stream, pieces);
    } catch (error) {
      this.#streams.delete(stream);
      stream.end("left");
      throw error;
    }
    const ended = this.#record(stream, actor).finally(() => {
      this.#streams.delete(stream);
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
    void reply.type("text/event-stream; charset=utf-8").header("x-accel-buffering", "no");
    return stream.body;
  }

  async #fill(stream: EventStream, pieces: AsyncIterable<ServerSentEvent>): Promise<void> {
    try {
      for await (const piece of pieces) await stream.send(piece);
    } catch (error) {
      this.#options.onFault(toError(error));
      stream.end("failed");
    }
  }

  /** Waits for the end, and puts it on record. Never rejects. */
  async #record(stream: EventStream, actor: ReturnType<typeof addressActor>): Promise<void> {
    const reason = await stream.ended;
    try {
      await this.#options.publish({ type: "watch.ended", actor, data: { reason } });
    } catch (error) {
      this.#options.onFault(toError(error));
    }
  }
}
