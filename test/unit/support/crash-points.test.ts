import { expect, test } from "vitest";

import { createCrashPoints, listCrashPoints } from "../../support/crash-points.ts";
import { LateEngine } from "../../../src/sandbox/engine/late-engine.ts";
import { openTestStore } from "../../support/open-test-store.ts";

function crash(): never {
  throw new Error("crashed");
}

test("a crash before the second call of a method happens when the first one has had its effect and the second one none", async () => {
  await using opened = await openTestStore();
  const store = createCrashPoints("before:sessions.open#2", crash).store(opened.store);

  await store.sessions.open("main:http:one", "one");
  expect(() => store.sessions.open("main:http:two", "two")).toThrow("crashed");
  const sessions = (await opened.store.sessions.list()).length;

  expect(sessions).toBe(1);
});

test("a crash after a call happens when its effect is in the store", async () => {
  await using opened = await openTestStore();
  const crashed = Promise.withResolvers<number>();
  const count = async (): Promise<number> => (await opened.store.sessions.list()).length;
  const store = createCrashPoints("after:sessions.open", () => crashed.resolve(count())).store(opened.store);

  await store.sessions.open("main:http:one", "one");

  expect(await crashed.promise).toBe(1);
});

test("records, sends of the mailbox and sends of a channel are told apart by what they are about", async () => {
  const crashes: string[] = [];
  const at = (point: string) => createCrashPoints(point, () => void crashes.push(point));
  const done: string[] = [];
  const mailbox = {
    send: async ({ type }: { type: string }) => done.push(type),
    setFrozen: () => undefined,
    takeFile: async () => ({ ok: false, reason: "missing" }) as const,
    giveFile: async () => "1.html",
    removeFiles: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };

  const record = at("before:record.turn-end").audit(async ({ type }) => void done.push(type));
  await record({ type: "turn-start", actor: "host", data: {} });
  await record({ type: "turn-end", actor: "host", data: {} });
  const watched = at("after:mailbox.turn-start").mailbox(mailbox);
  await watched.send({ type: "cancel", turn: "1", reason: "" });
  await watched.send({ type: "turn-start", turn: "1", resumed: false, tools: [] });
  await watched[Symbol.asyncDispose]();

  expect(crashes).toEqual(["before:record.turn-end", "after:mailbox.turn-start"]);
  expect(done).toEqual(["turn-start", "turn-end", "cancel", "turn-start"]);
});

test("what is no crash point by its form is refused, and says how one looks", () => {
  expect(() => createCrashPoints("turns.finish")).toThrow("before:turns.finish#2");
});

test("the list names each method of the store and of the engine, each record and each message to an agent", async () => {
  await using opened = await openTestStore();
  await using engine = new LateEngine(() => Promise.reject(new Error("it is not asked")));

  const points = listCrashPoints({ store: opened.store, engine });

  for (const point of ["turns.finish", "outbox.setState", "audit.append", "engine.waitForExit", "record.tool-call"])
    expect(points).toContain(point);
  for (const point of ["mailbox.model-response", "channel.send", "messages.insert"]) expect(points).toContain(point);
  expect(new Set(points).size).toBe(points.length);
  expect(points.length).toBeGreaterThan(80);
});
