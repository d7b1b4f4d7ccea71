import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { createGatewayServer } from "../../../src/surfaces/http/server.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import type { OperationNeeds } from "../../../src/surfaces/operations.ts";
import { addRestRoutes } from "../../../src/surfaces/http/operation-routes.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const token = "0123456789abcdef0123456789abcdef";
const none = { tokensPerDay: undefined, usdPerDay: undefined };
const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 15, 12) };

async function openRig() {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const server = stack.use(
    createGatewayServer({
      host: "127.0.0.1",
      port: 0,
      token,
      ready: async () => ({ ready: true, reasons: [] }),
      metrics: new Registry(),
      clock: systemClock,
      logger: pino({ level: "silent" }),
    }),
  );
  const groups = { list: () => [{ name: "family", channel: "terminal", chat: "c" }] };
  addRestRoutes(server.routes, {
    // All that this operation works with.
    needs: () =>
      ({
        store,
        groups,
        clock,
        budgetOf: () => ({ usdPerDay: 5, tokensPerDay: undefined }),
      }) as unknown as OperationNeeds,
    publish: () => Promise.resolve(),
    version: "test",
    streams: { onFault: () => undefined },
  });
  const { port } = await server.listen();
  const get = async (query: string, authorization = `Bearer ${token}`) => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/costs${query}`, { headers: { authorization } });
    return { status: response.status, body: (await response.json()) as object };
  };
  const used = async (day: string, group: string): Promise<void> => {
    const answer = await store.usage.reserve({ group, day, tokens: 1, usd: 0, groupLimits: none, totalLimits: none });
    const call = { model: "claude/small", turn: undefined, inputTokens: 100, cachedInputTokens: 80, outputTokens: 10 };
    if (answer.granted) await store.usage.settle(answer.reservation, { ...call, usd: 0.5 });
  };
  const owned = stack.move();
  return { get, used, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("costs are told as the command line tells them: by whole days, of one group, group by is asked for", async () => {
  await using rig = await openRig();
  await rig.used("2026-01-15", "family");
  await rig.used("2026-01-15", "family");
  await rig.used("2026-01-15", "work");
  await rig.used("2026-01-01", "family");

  expect(await rig.get("")).toMatchObject({
    status: 200,
    body: {
      since: "2026-01-09",
      costs: [{ by: "group", name: "family", calls: 2, usd: 1 }, { name: "work" }],
      budget: { usdPerDay: 5, tokensPerDay: null },
    },
  });
  expect(await rig.get("?by=day&since=2026-01-01&group=family")).toMatchObject({
    body: {
      costs: [
        { by: "day", name: "2026-01-01" },
        { by: "day", name: "2026-01-15", inputTokens: 200, cachedInputTokens: 160, writtenInputTokens: 0 },
      ],
    },
  });
  expect(await rig.get("?since=1d&by=model")).toMatchObject({ body: { costs: [{ name: "claude/small", calls: 3 }] } });
});

test("what does not fit is refused with its path, an unknown group is not found, and without the token there is nothing", async () => {
  await using rig = await openRig();

  expect(await rig.get("?since=yesterday")).toMatchObject({ status: 400, body: { error: { path: "since" } } });
  expect(await rig.get("?by=colour")).toMatchObject({ status: 400, body: { error: { path: "by" } } });
  expect(await rig.get("?group=nobody")).toMatchObject({ status: 404 });
  expect(await rig.get("", "Bearer wrong")).toMatchObject({ status: 401 });
});
