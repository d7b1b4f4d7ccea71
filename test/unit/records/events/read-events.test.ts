import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { readEvents } from "../../../../src/records/events/read-events.ts";
import type { Store } from "../../../../src/stores/contract/store.ts";
import { openTestStore } from "../../../support/open-test-store.ts";

async function fill({ store }: { readonly store: Store }, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await store.events.append({ type: "chat.left", actor: "host", data: { channel: "http", chat: "x" } }, 1);
  }
}

test("a follower that reads slowly has one page in memory, and misses nothing", async () => {
  await using opened = await openTestStore();
  await fill(opened, 10);
  let pages = 0;
  const { events } = opened.store;
  const counting = {
    before: events.before.bind(events),
    after: async (...query: Parameters<typeof events.after>) => {
      pages += 1;
      return events.after(...query);
    },
  };
  const ended = new AbortController();
  const wake = Promise.withResolvers<void>();
  const source = { next: () => wake.promise, signal: ended.signal };
  const follower = readEvents(counting, { after: 0, last: 0 }, source);
  await follower.next();

  await fill(opened, 3_000);
  wake.resolve();
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  const pagesUnread = pages;
  const seen = [1];
  for await (const { seq } of follower) {
    seen.push(seq);
    if (seen.length === 3_010) break;
  }

  expect(pagesUnread).toBe(1);
  expect(seen).toEqual(Array.from({ length: 3_010 }, (_, index) => index + 1));
});

test("what is kept is read from beyond many events of other kinds", async () => {
  await using opened = await openTestStore();
  await opened.store.events.append({ type: "host.stopped", actor: "host", data: {} }, 1);
  await fill(opened, 12_000);
  await opened.store.events.append({ type: "host.stopped", actor: "host", data: {} }, 1);

  const found = await Array.fromAsync(readEvents(opened.store.events, { last: 5, type: "host.*" }));
  const forwards = await Array.fromAsync(readEvents(opened.store.events, { last: 0, after: 0, type: "host.*" }));

  expect([found, forwards].map((events) => events.map(({ seq }) => seq))).toEqual([
    [1, 12_002],
    [1, 12_002],
  ]);
});
