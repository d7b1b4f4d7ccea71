import pino from "pino";
import { Registry } from "prom-client";

import { DeltaBus } from "../../src/records/events/deltas/delta-bus.ts";
import { EventBus } from "../../src/records/events/event-bus.ts";
import type { NewEvent } from "../../src/domain/events/event.ts";
import { createGatewayServer } from "../../src/surfaces/http/server.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { addRestRoutes } from "../../src/surfaces/http/operation-routes.ts";
import type { EventStreamOptions } from "../../src/surfaces/http/watching/event-streams.ts";
import type { OperationNeeds } from "../../src/surfaces/operations.ts";
import { followInTurn } from "../../src/records/events/read-in-turn.ts";
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

export async function openWatchRig(more: Partial<EventStreamOptions> = {}): Promise<WatchRig> {
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
  const needs = followInTurn(store.events, events, deltas);
  addRestRoutes(server.routes, {
    // All that this operation works with.
    needs: () => needs as unknown as OperationNeeds,
    publish: events.publish,
    version: "test",
    streams: { onFault: (error) => void faults.push(error), ...more },
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
