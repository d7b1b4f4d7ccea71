import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import type { OutboxOptions } from "../../../src/delivery/outbox.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { add, openOutboxRig, states } from "../../support/outbox-rig.ts";

test("waking it from everywhere at once sends nothing twice", async () => {
  await using rig = await openOutboxRig();
  await add(rig.store, "other", "main", { channel: "terminal" });

  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      await add(rig.store, `text ${index}`, `chat ${index % 4}`);
      rig.channel.disconnect();
      rig.outbox.wake();
      rig.channel.connect();
      rig.outbox.wake();
      await rig.outbox.idle();
    }),
  );
  await rig.outbox.idle();

  const sent = rig.channel.attempts.map(({ seq }) => seq);
  expect(sent).toHaveLength(60);
  expect(new Set(sent).size).toBe(60);
});

/** A store of which the second look at what is unsent takes until it is let go. */
function slowSecondLook(store: Store["outbox"]): {
  store: OutboxOptions["store"];
  begun: Promise<void>;
  letGo: () => void;
} {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let looks = 0;
  const unsent: OutboxOptions["store"]["unsent"] = async (limit, after) => {
    const rows = await store.unsent(limit, after);
    looks += 1;
    if (looks === 2) {
      begun.resolve();
      await gate.promise;
    }
    return rows;
  };
  const slow: OutboxOptions["store"] = {
    unsent,
    setState: (seq, state, attempt, error) => store.setState(seq, state, attempt, error),
    get: (seq) => store.get(seq),
    requeue: (seqs, at) => store.requeue(seqs, at),
  };
  return { store: slow, begun: begun.promise, letGo: gate.resolve };
}

test("a channel that appears late gets what has waited for it, and nothing of another is sent twice for that", async () => {
  await using opened = await openTestStore();
  const late = new FakeChannel("late");
  const early = new FakeChannel("early");
  await early.start(async () => ({ outcome: "unknown-chat" }));
  const slow = slowSecondLook(opened.store.outbox);
  await using rig = await openOutboxRig({
    store: slow.store,
    channelOf: (name) => (name === "late" ? late : early),
  });
  await add(opened.store, "waits", "main", { channel: "late" });
  await add(opened.store, "in flight", "one", { channel: "early" });
  await add(opened.store, "held", "two", { channel: "early" });
  const release = early.holdSends();
  rig.outbox.wake();
  await expect.poll(() => early.attempts.length).toBe(2);

  // The second look starts over from the beginning, and one message is delivered while it is under way.
  await late.start(async () => ({ outcome: "unknown-chat" }));
  rig.outbox.wake();
  await slow.begun;
  release();
  await expect.poll(() => states(opened.store, "early")).toEqual(["accepted", "accepted"]);
  slow.letGo();
  await rig.outbox.idle();

  expect(late.heard("main")).toEqual(["waits"]);
  expect(early.attempts.map(({ text }) => text)).toEqual(["in flight", "held"]);
});

test("what is in flight is not sent again when another channel appears", async () => {
  const late = new FakeChannel("late");
  const early = new FakeChannel("early");
  await early.start(async () => ({ outcome: "unknown-chat" }));
  await using rig = await openOutboxRig({ channelOf: (name) => (name === "late" ? late : early) });
  await add(rig.store, "waits", "main", { channel: "late" });
  await add(rig.store, "in flight", "one", { channel: "early" });
  const release = early.holdSends();
  rig.outbox.wake();
  await expect.poll(() => early.attempts.length).toBe(1);

  await late.start(async () => ({ outcome: "unknown-chat" }));
  rig.outbox.wake();
  await expect.poll(() => late.heard("main")).toEqual(["waits"]);
  release();
  await rig.outbox.idle();

  expect(early.attempts).toHaveLength(1);
});

test("a connection that comes and goes does not let a message overtake an earlier one", async () => {
  await using opened = await openTestStore();
  const slow = slowSecondLook(opened.store.outbox);
  const pause = Promise.withResolvers<void>();
  await using rig = await openOutboxRig({ store: slow.store, wait: () => pause.promise });
  rig.channel.failNextSends(1);
  await add(opened.store, "one");
  rig.outbox.wake();
  await expect.poll(() => states(opened.store)).toEqual(["queued"]);
  await add(opened.store, "two");
  rig.outbox.wake();
  await slow.begun;

  // The first one finds its connection gone, and just then the second one is looked up.
  rig.channel.disconnect();
  pause.resolve();
  await setImmediate();
  rig.channel.connect();
  slow.letGo();
  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
});
