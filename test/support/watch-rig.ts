import pino from "pino";
import { Registry } from "prom-client";

import { DeltaBus } from "../../src/records/events/deltas/delta-bus.ts";
import { EventBus } from "../../src/records/events/event-bus.ts";
import type { NewEvent } from "../../src/domain/events/event.ts";
import { createGatewayServer } from "../../src/surfaces/http/server.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { addWatchRoutes, type WatchHttpOptions } from "../../src/surfaces/http/watching/watch-http.ts";
import { openTestStore } from "./open-test-store.ts";
import { openEventSource, type EventSourceReader } from "./event-source.ts";

export const token = "token-of-the-tests";

/** A real gateway with the route for subscribers, a real store of events, and a client that has the token. */
export interface WatchRig extends AsyncDisposable {
  readonly url: string;
  readonly deltas: DeltaBus;
  readonly faults: Error[];
  publish(event: NewEvent): Promise<void>;
  /** Records of subscribers. */
  told(): Promise<readonly { readonly type: string; readonly data: object }[]>;
  subscribe(query?: string, headers?: Record<string, string>): Promise<EventSourceReader>;
  stop(): Promise<void>;
}

export async function openWatchRig(more: Partial<WatchHttpOptions> = {}): Promise<WatchRig> {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const logger = pino({ level: "silent" });
  const events = stack.use(
    new EventBus({
      store: store.events,
      record: async () => undefined,
      redact: (text) => text,
      clock: systemClock,
      logger,
    }),
  );
  const server = createGatewayServer({
    host: "127.0.0.1",
    port: 0,
    token,
    ready: async () => ({ ready: true, reasons: [] }),
    metrics: new Registry(),
    clock: systemClock,
    logger,
  });
  const deltas = new DeltaBus(logger);
  const faults: Error[] = [];
  addWatchRoutes(server.routes, {
    store: store.events,
    next: (signal) => events.next(signal),
    deltas,
    publish: events.publish,
    onFault: (error) => void faults.push(error),
    ...more,
  });
  stack.use(server);
  const { host, port } = await server.listen();
  const url = `http://${host}:${port}`;
  const owned = stack.move();
  return {
    url,
    deltas,
    faults,
    publish: (event) => events.publish(event),
    told: async () =>
      (await store.events.after(0, { types: ["watch.opened", "watch.ended"] }, 1_000)).events.map(({ type, data }) => ({
        type,
        data,
      })),
    subscribe: (query = "", headers = {}) =>
      openEventSource(`${url}/v1/events${query}`, { authorization: `Bearer ${token}`, ...headers }),
    stop: async () => {
      await server[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
