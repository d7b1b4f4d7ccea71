import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { pino } from "pino";
import { expect, test } from "vitest";

import { readAudit } from "../../../../src/records/audit/read.ts";
import { EventBus, type EventBusOptions } from "../../../../src/records/events/event-bus.ts";
import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { openStore } from "../../../../src/stores/catalog.ts";
import type { Store } from "../../../../src/stores/contract/store.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const publisher = resolve(import.meta.dirname, "../../../fixtures/stores/event-publisher.ts");

function left(chat: string): NewEvent<"chat.left"> {
  return { type: "chat.left", group: "family", actor: "host", data: { channel: "http", chat } };
}

async function openBus(more: Partial<EventBusOptions> = {}) {
  const opened = await openTestStore();
  const warnings: string[] = [];
  const bus = new EventBus({
    store: opened.store.events,
    record: async () => undefined,
    redact: (text) => text.replaceAll("hunter2", "[redacted]"),
    clock: { now: () => 7 },
    logger: pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) }),
    ...more,
  });
  return { bus, store: opened.store, warnings, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

async function all(store: Store) {
  const { events } = await store.events.after(0, {}, 1_000_000);
  return events;
}

test("what an event announces waits for the store and the record, and is not done when either fails", async () => {
  const steps: string[] = [];
  let broken = true;
  await using rig = await openBus({
    record: async ({ type }) => {
      steps.push(`record ${type}`);
      await Promise.resolve();
      if (broken) throw new Error("the disk is full");
    },
  });
  const event = left("one");

  await expect(rig.bus.publish(event)).rejects.toThrow("the disk is full");
  broken = false;
  await rig.bus.publish(event);
  await rig.store[Symbol.asyncDispose]();
  await expect(rig.bus.publish(left("two"))).rejects.toMatchObject({ code: "store_failed" });

  expect(steps).toEqual(["record chat.left", "record chat.left"]);
});

test("an event that is told again because it could not be recorded is in the stream once", async () => {
  let attempts = 0;
  await using rig = await openBus({
    record: async () => {
      attempts += 1;
      await Promise.resolve();
      if (attempts < 3) throw new Error("the disk is full");
    },
  });
  const event = left("one");

  for (let tries = 0; tries < 3; tries += 1) await rig.bus.publish(event).catch(() => undefined);

  expect(attempts).toBe(3);
  expect((await all(rig.store)).map(({ data }) => data)).toEqual([event.data]);
});

test("secrets are in no event, wherever they stand, and what is too long is cut", async () => {
  const records: unknown[] = [];
  await using rig = await openBus({ record: async (event) => void records.push(event) });
  const seen: unknown[] = [];
  using subscription = rig.bus.subscribe("test", (event) => void seen.push(event));

  await rig.bus.publish({ ...left(`a hunter2 ${"x".repeat(5_000)}`), session: "hunter2", actor: "member:hunter2" });
  subscription[Symbol.dispose]();

  const [event] = await all(rig.store);
  expect(JSON.stringify([event, seen, records])).not.toContain("hunter2");
  expect(event).toMatchObject({ session: "[redacted]", actor: "member:[redacted]" });
  expect(JSON.stringify(event).length).toBeLessThan(2_500);
});

test("a subscriber that throws or is too slow holds nothing up, and is told what it has missed", async () => {
  await using rig = await openBus();
  const seen: number[] = [];
  const broken = rig.bus.subscribe("broken", () => {
    throw new Error("no");
  });
  const slow = rig.bus.subscribe("slow", ({ seq }) => void seen.push(seq), 3);

  await Promise.all(Array.from({ length: 8 }, (_, index) => rig.bus.publish(left(String(index)))));
  for (const subscription of [broken, slow]) subscription[Symbol.dispose]();
  await rig.bus.publish(left("more"));
  rig.bus[Symbol.dispose]();
  const missed = await rig.store.events.after(3, {}, slow.missed);

  expect([...seen.slice(0, 3), ...missed.events.map(({ seq }) => seq), seen.at(-1)]).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
  expect(slow.missed).toBe(5);
  expect(rig.warnings.join("")).toContain('"since":4,"missed":5');
  expect(rig.warnings.join("")).toContain("a subscriber failed on an event");
});

test("killed at any moment, the host has numbered all events without a gap, in order, and put those on record that it went on from", async () => {
  await using folder = await temporaryFolder();
  const published: number[] = [];
  let first = 1;
  for (const lines of [23, 57, 114]) {
    const child = spawn(process.execPath, [publisher, folder.path, String(first)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let count = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      published.push(Number(line.replace("published ", "")));
      count += 1;
      if (count === lines) child.kill("SIGKILL");
    }
    await using store = await openStore({ kind: "sqlite", path: join(folder.path, "crabpot.sqlite") });
    first = (await all(store)).length + 1;
  }

  await using store = await openStore({ kind: "sqlite", path: join(folder.path, "crabpot.sqlite") });
  const events = await all(store);
  const numbers = events.map(({ data }) => Number("chat" in data ? data.chat : "name" in data ? data.name : undefined));
  const inOrder = Array.from({ length: events.length }, (_, index) => index + 1);
  const records = await Array.fromAsync(readAudit({ folder: join(folder.path, "audit") }));
  const recorded = new Set(records.map(({ data }) => Number(data["chat"])));

  expect(events.map(({ seq }) => seq)).toEqual(inOrder);
  expect(numbers).toEqual(inOrder);
  expect(published.length).toBeGreaterThanOrEqual(23 + 57 + 114);
  for (const number of published) expect(number % 3 === 0 || recorded.has(number)).toBe(true);
});
