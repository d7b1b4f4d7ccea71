import { once } from "node:events";
import { connect } from "node:net";

import { expect, test } from "vitest";

import type { Delta } from "../../../src/domain/chats/delta.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import { openWatchRig, token } from "../../support/watch-rig.ts";

function left(group: string, chat = "c"): NewEvent<"chat.left"> {
  return { type: "chat.left", group, actor: "host", data: { channel: "http", chat } };
}

function answer(text: string, group = "family"): Delta {
  return { group, session: "s", turn: "t", type: "answer", text };
}

test("a subscriber gets what happens from now on, each event with its number as its id", async () => {
  await using rig = await openWatchRig();
  await rig.publish(left("before"));
  using source = await rig.subscribe();

  await rig.publish(left("family"));
  const event = await source.until(({ data }) => data["type"] === "chat.left");

  expect(source.response.headers.get("content-type")).toContain("text/event-stream");
  expect(source.response.headers.get("cache-control")).toBe("no-store");
  expect(event).toMatchObject({ event: "message", data: { group: "family", turn: null, actor: "host" } });
  expect(event.id).toBe(String(event.data["seq"]));
});

test("one that comes back after a number misses nothing, whether it says so in the query or as browsers do", async () => {
  await using rig = await openWatchRig();
  for (const chat of ["1", "2", "3"]) await rig.publish(left("family", chat));
  using asked = await rig.subscribe("?after=1&type=chat.*");
  using again = await rig.subscribe("?after=0&type=chat.*", { "last-event-id": "2" });

  const first = await asked.until(() => true);
  const second = await asked.until(() => true);
  const other = await again.until(() => true);

  expect([first.id, second.id, other.id]).toEqual(["2", "3", "3"]);
});

test("type and group are filters", async () => {
  await using rig = await openWatchRig();
  using source = await rig.subscribe("?type=chat.left&group=family");

  await rig.publish(left("other"));
  await rig.publish({ type: "intake.resumed", actor: "host", data: { seconds: 1 } });
  await rig.publish(left("family"));

  expect((await source.until(() => true)).data["group"]).toBe("family");
});

test.each([
  ["?after=x", 400, "after"],
  ["?deltas=yes", 400, "deltas"],
  ["?unknown=1", 400, "unknown"],
  ["?type=no.such", 400, "no.such"],
  ["?after=1&after=2", 400, ""],
])("a query that cannot be understood is refused: %s", async (query, status, said) => {
  await using rig = await openWatchRig();

  const response = await fetch(`${rig.url}/v1/events${query}`, { headers: { authorization: `Bearer ${token}` } });

  expect(response.status).toBe(status);
  expect(await response.text()).toContain(said);
  expect(await rig.told()).toEqual([]);
});

test("without the token nobody subscribes", async () => {
  await using rig = await openWatchRig();

  const response = await fetch(`${rig.url}/v1/events?deltas=1`);

  expect(response.status).toBe(401);
  expect(await rig.told()).toEqual([]);
});

test("deltas come to those who ask for them, of the group that they ask for", async () => {
  await using rig = await openWatchRig();
  using watching = await rig.subscribe("?deltas=1&group=family");
  using reading = await rig.subscribe();

  rig.deltas.offer(answer("secret of others", "other"));
  rig.deltas.offer(answer("Hel"));
  rig.deltas.offer(answer("lo"));
  await rig.publish(left("family"));
  const delta = await watching.until(({ event }) => event === "delta");
  await reading.until(({ data }) => data["type"] === "chat.left");

  expect(delta).toMatchObject({ id: undefined, data: { type: "answer", group: "family", turn: "t" } });
  expect("Hello").toContain(delta.data["text"]);
  expect(watching.raw()).not.toContain("others");
  expect(reading.raw()).not.toContain("delta");
});

test("nobody watches anymore when a subscriber has left, and that is on record", async () => {
  await using rig = await openWatchRig();
  const source = await rig.subscribe("?deltas=1&group=family");
  expect(rig.deltas.watchers).toBe(1);

  source[Symbol.dispose]();

  await expect.poll(() => rig.deltas.watchers).toBe(0);
  await expect.poll(() => rig.told()).toHaveLength(2);
  expect(await rig.told()).toEqual([
    { type: "watch.opened", data: { deltas: true, group: "family" } },
    { type: "watch.ended", data: { reason: "left" } },
  ]);
});

test("while nothing happens there are signs of life", async () => {
  await using rig = await openWatchRig({ limits: { heartbeatMs: 20, slowMs: 1_000, goodbyeMs: 100 } });
  using source = await rig.subscribe();
  void source.until(() => false).catch(() => undefined);

  await expect.poll(() => source.raw()).toContain(": still here");
});

test("one that takes nothing is cut off with a last event that says why, and costs no more than what fits on the way", async () => {
  await using rig = await openWatchRig({ limits: { heartbeatMs: 60_000, slowMs: 100, goodbyeMs: 100 } });
  const { port } = new URL(rig.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`GET /v1/events?deltas=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await once(socket, "readable");
  await expect.poll(() => rig.deltas.watchers).toBe(1);

  const before = process.memoryUsage().rss;
  for (let piece = 0; rig.deltas.watchers > 0; piece += 1) {
    rig.deltas.offer(answer("x".repeat(50_000)));
    if (piece % 20 === 0) await new Promise(setImmediate);
  }

  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  await expect.poll(async () => (await rig.told()).at(-1)).toEqual({ type: "watch.ended", data: { reason: "slow" } });
  socket.destroy();
});

test("when the host stops, subscribers are told", async () => {
  await using rig = await openWatchRig();
  using source = await rig.subscribe();

  const stopped = rig.stop();
  const rest = await source.rest();
  await stopped;

  expect(rest.at(-1)).toEqual({ id: undefined, event: "end", data: { reason: "stopping" } });
  expect((await rig.told()).at(-1)).toEqual({ type: "watch.ended", data: { reason: "stopping" } });
});

test("there are no more subscribers than may be", async () => {
  await using rig = await openWatchRig({ most: 1 });
  using first = await rig.subscribe();

  const refused = await fetch(`${rig.url}/v1/events`, { headers: { authorization: `Bearer ${token}` } });

  expect(first.response.status).toBe(200);
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain("limit");
});
