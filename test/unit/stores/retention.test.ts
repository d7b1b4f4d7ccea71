import { pino } from "pino";
import { expect, test } from "vitest";

import type { NewEvent } from "../../../src/domain/events/event.ts";
import { Retention, type RetentionOptions } from "../../../src/stores/retention.ts";
import { say, inChat } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const now = Date.UTC(2026, 0, 15, 12);
const day = 24 * 3_600_000;

type Opened = Awaited<ReturnType<typeof openTestStore>>;

/** The pauses between runs are over when the test says so; those in between at once. */
function open({ store }: Opened, more: Partial<RetentionOptions> = {}) {
  const records: NewEvent[] = [];
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const retention = new Retention({
    store,
    days: { messages: 365, turns: 365, replies: 90 },
    eventDays: 7,
    keepNewest: 1,
    publish: async (entry) => {
      records.push(entry);
    },
    clock: { now: () => now },
    logger: pino({ level: "silent" }),
    wait: async (ms, signal) => {
      if (ms < 60_000 || signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      pauses.push({ ms, end: resolve });
      signal.addEventListener("abort", () => resolve());
      await promise;
    },
    ...more,
  });
  return { records, pauses, [Symbol.asyncDispose]: () => retention[Symbol.asyncDispose]() };
}

async function fill({ store }: Opened, count: number, at: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => say(`${at} ${index}`));
  await Promise.all(messages.map((each) => store.messages.insert(each, { group: "family", state: "context", at })));
}

async function textsLeft({ store }: Opened): Promise<number> {
  const messages = await store.messages.after(inChat("family"), 0, 10_000);
  return messages.filter(({ text }) => text !== "").length;
}

test("some minutes after the start old texts go, however many there are, and it is on record what went", async () => {
  await using opened = await openTestStore();
  await fill(opened, 1_234, now - 366 * day);
  await fill(opened, 10, now - 364 * day);
  await using rig = open(opened);
  const before = await textsLeft(opened);

  rig.pauses[0]?.end();
  await expect.poll(() => rig.pauses.length).toBe(2);

  expect([before, await textsLeft(opened)]).toEqual([1_244, 10]);
  expect(rig.pauses.map(({ ms }) => ms)).toEqual([5 * 60_000, 6 * 3_600_000]);
  expect(rig.records).toEqual([
    {
      type: "store.pruned",
      actor: "host",
      data: { messages: 1_234, steps: 0, work: 0, replies: 0, chats: 0, days: 0 },
    },
  ]);
});

test("what is to be kept for ever is, and a run that finds nothing says nothing", async () => {
  await using opened = await openTestStore();
  await fill(opened, 20, now - 5_000 * day);
  await using rig = open(opened, { days: { messages: 0, turns: 0, replies: 0 } });

  rig.pauses[0]?.end();
  await expect.poll(() => rig.pauses.length).toBe(2);

  expect(await textsLeft(opened)).toBe(20);
  expect(rig.records).toEqual([]);
});

test("it ends at once, in the middle of its work too", async () => {
  await using opened = await openTestStore();
  await fill(opened, 1_000, now - 400 * day);
  const rig = open(opened);
  rig.pauses[0]?.end();

  await rig[Symbol.asyncDispose]();

  expect(await textsLeft(opened)).toBeGreaterThan(0);
  expect(rig.pauses).toHaveLength(1);
});
