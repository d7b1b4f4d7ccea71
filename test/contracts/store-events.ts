import { assert, asyncProperty, integer } from "fast-check";
import { expect, test } from "vitest";

import type { NewEvent } from "../../src/domain/events/event.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { type OpenStore, restartableStore } from "./store-setup.ts";

function left(chat: string, group?: string): NewEvent {
  return { type: "chat.left", group, actor: "host", data: { channel: "http", chat } };
}

async function append(store: Store, count: number, at = 1_000): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => store.events.append(left(String(index + 1)), at)));
}

async function numbers(store: Store, after = 0): Promise<number[]> {
  const { events } = await store.events.after(after, {}, 1_000);
  return events.map(({ seq }) => seq);
}

/** Everything that happened, in order and without a gap. */
export function testEvents(open: OpenStore): void {
  test("events come back as they were told, numbered in the order of the calls, also after a restart", async () => {
    await using home = await restartableStore(open);
    const full = {
      type: "turn.started",
      group: "family",
      session: "s",
      turn: "t",
      actor: "host",
      data: { resumed: false, messages: ["1"], senders: ["ann"] },
    } as const;

    const seqs = await Promise.all([home.store.events.append(full, 5), home.store.events.append(left("two"), 4)]);
    const store = await home.restart();
    const third = await store.events.append(left("three"), 6);

    expect([...seqs, third]).toEqual([1, 2, 3]);
    expect((await store.events.after(0, {}, 10)).events).toEqual([
      { ...full, seq: 1, at: 5 },
      { ...left("two"), group: undefined, seq: 2, at: 4 },
      { ...left("three"), group: undefined, seq: 3, at: 6 },
    ]);
  });

  test("pages from either end hold what was asked for, once each, whatever the size of a page", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    for (const group of ["a", "b", undefined, "a", "a", "b", "a"]) await store.events.append(left("x", group), 1);
    await store.events.append({ type: "host.stopped", actor: "host", data: {} }, 1);
    const wanted = [1, 4, 5, 7];
    const filter = { group: "a", types: ["chat.left", "host.started"] } as const;

    await assert(
      asyncProperty(integer({ min: 1, max: 9 }), async (limit) => {
        const [forwards, backwards]: [number[], number[]] = [[], []];
        for (let next: number | undefined = 0; next !== undefined;) {
          const page: Awaited<ReturnType<Store["events"]["after"]>> = await store.events.after(next, filter, limit);
          forwards.push(...page.events.map(({ seq }) => seq));
          next = page.next;
        }
        for (let next: number | undefined = 99; next !== undefined;) {
          const page: Awaited<ReturnType<Store["events"]["before"]>> = await store.events.before(next, filter, limit);
          backwards.unshift(...page.events.map(({ seq }) => seq));
          next = page.next;
        }
        expect([forwards, backwards]).toEqual([wanted, wanted]);
      }),
      { numRuns: 9 },
    );
    expect(await store.events.after(0, { group: "nobody" }, 10)).toEqual({ events: [], next: undefined });
  });

  test("old events go a few at a time, the newest never does, and the numbers go on after it", async () => {
    await using home = await restartableStore(open);
    await append(home.store, 5);

    const pruned = [await home.store.events.prune(999, 10), await home.store.events.prune(2_000, 3)];
    pruned.push(await home.store.events.prune(2_000, 3), await home.store.events.prune(2_000, 3));
    const store = await home.restart();
    await append(store, 2);

    expect(pruned).toEqual([0, 3, 1, 0]);
    expect(await numbers(store)).toEqual([5, 6, 7]);
    expect(await numbers(store, 6)).toEqual([7]);
  });

  test("an event that is young enough keeps those behind it, whatever their times", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    for (const at of [1, 9, 1]) await store.events.append(left("x"), at);
    await store.events.append(left("x"), 9);

    await store.events.prune(5, 10);

    expect(await numbers(store)).toEqual([2, 3, 4]);
  });
}
