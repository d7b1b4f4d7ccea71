import type { FastifyInstance, FastifyRequest } from "fastify";
import * as z from "zod";

import { addressActor } from "../../../domain/people/actor.ts";
import type { DeltaBus } from "../../../records/events/deltas/delta-bus.ts";
import type { HostEvent, Publish } from "../../../domain/events/event.ts";
import { viewEvent } from "../../../records/events/event-view.ts";
import { readEvents } from "../../../records/events/read-events.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { InputError } from "../../../operations/invoke.ts";
import { EventStream, eventStreamLimits } from "./event-stream.ts";
import type { EventStreamLimits } from "./event-stream.ts";
import { LoopLane } from "./loop-lane.ts";

export interface WatchHttpOptions {
  readonly store: Parameters<typeof readEvents>[0];
  /** See `EventBus`. */
  readonly next: (signal: AbortSignal) => Promise<void>;
  readonly deltas: Pick<DeltaBus, "read">;
  readonly publish: Publish<"watch.opened" | "watch.ended">;
  readonly onFault: (error: Error) => void;
  readonly limits?: EventStreamLimits | undefined;
  /** Maximum number. */
  readonly most?: number | undefined;
}

const usualMost = 64;

const number = z.string().regex(/^\d{1,15}$/, "must be the number of an event");
const wanted = z.strictObject({
  after: number.transform(Number).optional(),
  type: z.string().min(1).max(256).optional(),
  group: z.string().min(1).max(256).optional(),
  deltas: z
    .enum(["0", "1"], "must be 0 or 1")
    .default("0")
    .transform((text) => text === "1"),
});

type Wanted = z.output<typeof wanted>;

/**
 * `GET /v1/events`: events as server-sent events, from a number on or from now on, and with `deltas=1` what turns do
 * meanwhile. Whoever has the gateway's token sees all of it, as the operator does.
 */
export function addWatchRoutes(routes: FastifyInstance, given: WatchHttpOptions): void {
  const lane = new LoopLane();
  const options = { ...given, store: inLane(given.store, lane), lane };
  const { limits = eventStreamLimits, most = usualMost } = options;
  const streams = new Set<EventStream>();
  const ending = new Set<Promise<void>>();
  routes.addHook("preClose", async () => {
    for (const stream of streams) stream.end("stopping");
  });
  routes.addHook("onClose", async () => void (await Promise.all(ending)));
  routes.get("/v1/events", async (request, reply) => {
    const query = wanted.safeParse(withLastId(request));
    if (!query.success) throw new InputError(query.error);
    if (streams.size >= most)
      throw new AppError("rate_limited", `Too many subscribers: the limit of ${most} is reached.`);
    const stream = new EventStream(limits, lane);
    streams.add(stream);
    const events = await begin(request, { stream, query: query.data, options }).catch((error: unknown) => {
      streams.delete(stream);
      stream.end("left");
      throw error;
    });
    reply.raw.once("close", () => stream.end("left"));
    void fill(stream, { events, query: query.data, options });
    const ended = record(request, { stream, query: query.data, options }).finally(() => {
      streams.delete(stream);
      ending.delete(ended);
    });
    ending.add(ended);
    return reply.type("text/event-stream; charset=utf-8").header("x-accel-buffering", "no").send(stream.body);
  });
}

/** A page of events is read in one go, and takes milliseconds. */
function inLane(store: WatchHttpOptions["store"], lane: LoopLane): WatchHttpOptions["store"] {
  return {
    after: async (...asked) => lane.enter().then(() => store.after(...asked)),
    before: async (...asked) => lane.enter().then(() => store.before(...asked)),
  };
}

/** A browser that comes back says which one it saw last. */
function withLastId({ query, headers }: FastifyRequest): object {
  const last = headers["last-event-id"];
  return { ...(query as object), ...(last !== undefined && last !== "" && { after: last }) };
}

interface Watching {
  readonly stream: EventStream;
  readonly query: Wanted;
  readonly options: WatchHttpOptions & { readonly lane: LoopLane };
}

/** Records a new subscriber. Later events are in the stream, wherever they begin. */
async function begin(request: FastifyRequest, { stream, query, options }: Watching): Promise<AsyncIterable<HostEvent>> {
  const { store, next, publish } = options;
  const read = (after: number): AsyncIterable<HostEvent> =>
    readEvents(store, { ...query, after, last: 0 }, { next, signal: stream.signal });
  // Throws at once what is wrong with the type, before anything is on record.
  const asked = read(query.after ?? 0);
  await publish(opened(request, query));
  if (query.after !== undefined) return asked;
  const [newest] = (await store.before(Number.MAX_SAFE_INTEGER, {}, 1)).events;
  return read(newest?.seq ?? 0);
}

/** Waits for the end, and puts it on record. Never rejects. */
async function record({ ip }: FastifyRequest, { stream, options }: Watching): Promise<void> {
  const reason = await stream.ended;
  try {
    await options.publish({ type: "watch.ended", actor: addressActor(ip), data: { reason } });
  } catch (error) {
    options.onFault(toError(error));
  }
}

function opened({ ip }: FastifyRequest, { after, type, group, deltas }: Wanted) {
  return { type: "watch.opened", actor: addressActor(ip), data: { after, type, group, deltas } } as const;
}

async function fill(
  stream: EventStream,
  { events, query, options }: Omit<Watching, "stream"> & { readonly events: AsyncIterable<HostEvent> },
): Promise<void> {
  const sendEvents = async (): Promise<void> => {
    for await (const event of events) await stream.send({ id: event.seq, data: viewEvent(event) });
  };
  const sendDeltas = async (): Promise<void> => {
    if (!query.deltas) return;
    const deltas = options.deltas.read(query.group, stream.signal);
    for await (const delta of deltas) {
      // All who watch a turn get the same at once, and each of them up to 64 KiB.
      await options.lane.enter();
      await stream.send({ event: "delta", data: delta });
    }
  };
  try {
    await Promise.all([sendEvents(), sendDeltas()]);
  } catch (error) {
    options.onFault(toError(error));
    stream.end("failed");
  }
}
