import { setImmediate } from "node:timers/promises";

import pino from "pino";
import { expect, test } from "vitest";

import type { OutboxState } from "../../../src/domain/message.ts";
import { Outbox, type OutboxParts } from "../../../src/delivery/outbox.ts";
import type { Store } from "../../../src/stores/store.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { openTestStore } from "../../support/open-test-store.ts";

interface Rig extends AsyncDisposable {
  readonly store: Store;
  readonly channel: FakeChannel;
  readonly outbox: Outbox;
  readonly delays: number[];
  readonly outcomes: string[];
  /** Another outbox over the same store, as after a restart. */
  restart(): Outbox;
}

async function openRig(more: Partial<OutboxParts> = {}): Promise<Rig> {
  const opened = await openTestStore();
  const { store } = opened;
  const channel = new FakeChannel();
  await channel.start(async () => ({ outcome: "unknown-chat" }));
  const [delays, outcomes]: [number[], string[]] = [[], []];
  const open = (): Outbox =>
    new Outbox({
      store: store.outbox,
      channelOf: (name) => (name === "fake" ? channel : undefined),
      audit: async ({ data }) => {
        outcomes.push(String(data["outcome"]));
      },
      logger: pino({ level: "silent" }),
      wait: async (delayMs) => {
        delays.push(delayMs);
      },
      random: () => 1,
      ...more,
    });
  const outbox = open();
  return {
    store,
    channel,
    outbox,
    delays,
    outcomes,
    restart: open,
    async [Symbol.asyncDispose]() {
      await outbox[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

async function add(store: Store, text: string, chat = "family", channel = "fake"): Promise<number> {
  const draft = { group: chat, channel, chat, kind: "reply", text, inReplyTo: [], turn: undefined } as const;
  return (await store.outbox.add(draft, 1)).seq;
}

async function states(store: Store, channel = "fake"): Promise<OutboxState[]> {
  return (await store.outbox.ofChannel(channel, 0, 1_000)).map(({ state }) => state);
}

test("messages of a chat are sent in order, one at a time, and recorded as accepted", async () => {
  await using rig = await openRig();
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
  const release = rig.channel.holdSends();

  for (const text of texts) {
    await add(rig.store, text);
    rig.outbox.wake();
  }
  await expect.poll(() => rig.channel.attempts.length).toBe(1);
  release();
  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(texts);
  expect(new Set(await states(rig.store))).toEqual(new Set(["accepted"]));
  expect(new Set(rig.outcomes)).toEqual(new Set(["accepted"]));
});

test("a message is recorded as being sent before it is sent", async () => {
  await using rig = await openRig();
  await add(rig.store, "hello");
  const release = rig.channel.holdSends();

  rig.outbox.wake();
  await expect.poll(() => rig.channel.attempts.length).toBe(1);
  const during = await states(rig.store);
  release();
  await rig.outbox.idle();

  expect(during).toEqual(["sending"]);
});

test("a chat whose messages are stuck does not hold up another", async () => {
  await using rig = await openRig();
  await add(rig.store, "stuck", "slow");
  const release = rig.channel.holdSends();
  rig.outbox.wake();
  await expect.poll(() => rig.channel.attempts.length).toBe(1);

  // Holds only what is sent from now on, which is nothing.
  rig.channel.holdSends()();
  await add(rig.store, "quick", "fast");
  rig.outbox.wake();
  await expect.poll(() => rig.channel.heard("fast")).toEqual(["quick"]);

  expect(rig.channel.heard("slow")).toEqual([]);
  release();
  await rig.outbox.idle();
  expect(rig.channel.heard("slow")).toEqual(["stuck"]);
});

test("a message that is not accepted is tried again, ever later, before the next one of its chat", async () => {
  await using rig = await openRig();
  rig.channel.failNextSends(3);
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
  expect(rig.delays).toEqual([1_000, 2_000, 4_000]);
  expect(rig.outcomes).toEqual(["failed", "failed", "failed", "accepted", "accepted"]);
});

test("a message is given up after five attempts and the next one goes on", async () => {
  await using rig = await openRig();
  rig.channel.failNextSends(5);
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["two"]);
  expect(await states(rig.store)).toEqual(["dead", "accepted"]);
  expect((await rig.store.outbox.ofChannel("fake", 0, 1))[0]?.attempts).toBe(5);
});

test("what the host was sending when it died is sent by the next one, and only that", async () => {
  await using rig = await openRig();
  const [sent, sending, queued] = [await add(rig.store, "a"), await add(rig.store, "b"), await add(rig.store, "c")];
  await rig.store.outbox.setState(sent, "accepted", 1);
  await rig.store.outbox.setState(sending, "sending", 1);

  await rig.outbox.idle();

  expect(rig.channel.attempts.map(({ seq }) => seq)).toEqual([sending, queued]);
});

test("an end in the middle of a send leaves the message for the next start", async () => {
  await using rig = await openRig();
  await add(rig.store, "one");
  await add(rig.store, "two");
  const release = rig.channel.holdSends();
  rig.outbox.wake();
  await expect.poll(() => rig.channel.attempts.length).toBe(1);

  await rig.outbox[Symbol.asyncDispose]();
  const left = await states(rig.store);
  release();
  await using next = rig.restart();
  await next.idle();

  expect(left).toEqual(["uncertain", "queued"]);
  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
});

test("replies wait for a channel that has lost its connection, without counting as attempts", async () => {
  await using rig = await openRig();
  rig.channel.disconnect();
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();
  const waiting = await states(rig.store);
  rig.channel.connect();
  await rig.outbox.idle();

  expect(waiting).toEqual(["queued", "queued"]);
  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
  expect(rig.channel.attempts).toHaveLength(2);
});

test("any number of replies for a channel that does not run stays untouched and holds up nobody", async () => {
  await using rig = await openRig();
  for (let index = 0; index < 450; index += 1) await add(rig.store, `for nobody ${index}`, "main", "terminal");
  await add(rig.store, "hello");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["hello"]);
  expect(new Set(await states(rig.store, "terminal"))).toEqual(new Set(["queued"]));
});

test("a long backlog is sent completely and in order", async () => {
  await using rig = await openRig();
  const texts = Array.from({ length: 1_500 }, (_, index) => `text ${index}`);
  for (const [index, text] of texts.entries()) await add(rig.store, text, `chat ${index % 3}`);

  await rig.outbox.idle();

  for (const chat of [0, 1, 2]) {
    expect(rig.channel.heard(`chat ${chat}`)).toEqual(texts.filter((_, index) => index % 3 === chat));
  }
  expect(rig.channel.attempts).toHaveLength(1_500);
});

test("waking it from everywhere at once sends nothing twice", async () => {
  await using rig = await openRig();
  await add(rig.store, "other", "main", "terminal");

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
  parts: OutboxParts["store"];
  begun: Promise<void>;
  letGo: () => void;
} {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let looks = 0;
  const unsent: OutboxParts["store"]["unsent"] = async (limit, after) => {
    const rows = await store.unsent(limit, after);
    looks += 1;
    if (looks === 2) {
      begun.resolve();
      await gate.promise;
    }
    return rows;
  };
  const setState: OutboxParts["store"]["setState"] = (seq, state, attempt, error) =>
    store.setState(seq, state, attempt, error);
  return { parts: { unsent, setState }, begun: begun.promise, letGo: gate.resolve };
}

test("a channel that appears late gets what has waited for it, and nothing of another is sent twice for that", async () => {
  await using opened = await openTestStore();
  const late = new FakeChannel("late");
  const early = new FakeChannel("early");
  await early.start(async () => ({ outcome: "unknown-chat" }));
  const slow = slowSecondLook(opened.store.outbox);
  await using rig = await openRig({
    store: slow.parts,
    channelOf: (name) => (name === "late" ? late : early),
  });
  await add(opened.store, "waits", "main", "late");
  await add(opened.store, "in flight", "one", "early");
  await add(opened.store, "held", "two", "early");
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
  await using rig = await openRig({ channelOf: (name) => (name === "late" ? late : early) });
  await add(rig.store, "waits", "main", "late");
  await add(rig.store, "in flight", "one", "early");
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
  await using rig = await openRig({ store: slow.parts, wait: () => pause.promise });
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

test("a store that fails for a while delays messages but neither loses nor repeats them", async () => {
  await using opened = await openTestStore();
  const { outbox: rows } = opened.store;
  let failures = 6;
  const failSometimes = (): void => {
    failures -= 1;
    if (failures >= 0 && failures % 2 === 0) throw new Error("disk full");
  };
  await using rig = await openRig({
    store: {
      unsent: async (limit, after) => {
        failSometimes();
        return rows.unsent(limit, after);
      },
      setState: async (seq, state, attempts, error) => {
        failSometimes();
        await rows.setState(seq, state, attempts, error);
      },
    },
  });
  await add(opened.store, "one");
  await add(opened.store, "two");

  await rig.outbox.idle();

  expect(failures).toBeLessThan(0);
  expect(rig.channel.attempts.map(({ text }) => text)).toEqual(["one", "two"]);
  expect(await states(opened.store)).toEqual(["accepted", "accepted"]);
});

test("a log that cannot be written holds no reply up", async () => {
  await using rig = await openRig({ audit: () => Promise.reject(new Error("disk full")) });
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
});
