import { expect, test } from "vitest";

import { openTestStore } from "../../support/open-test-store.ts";
import { add, openOutboxRig, states } from "../../support/outbox-rig.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";

test("messages of a chat are sent in order, one at a time, and recorded as accepted", async () => {
  await using rig = await openOutboxRig();
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
  await using rig = await openOutboxRig({}, new FakeChannel("fake", false));
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
  await using rig = await openOutboxRig();
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
  await using rig = await openOutboxRig();
  rig.channel.failNextSends(3);
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
  expect(rig.delays).toEqual([1_000, 2_000, 4_000]);
  expect(rig.outcomes).toEqual(["failed", "failed", "failed", "accepted", "accepted"]);
});

test("a message is given up after five attempts and the next one goes on", async () => {
  await using rig = await openOutboxRig();
  rig.channel.failNextSends(5);
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["two"]);
  expect(await states(rig.store)).toEqual(["dead", "accepted"]);
  expect((await rig.store.outbox.ofChannel("fake", 0, 1))[0]?.attempts).toBe(5);
});

test("what the host was sending when it died is sent by the next one, and only that", async () => {
  await using rig = await openOutboxRig();
  const [sent, sending, queued] = [await add(rig.store, "a"), await add(rig.store, "b"), await add(rig.store, "c")];
  await rig.store.outbox.setState(sent, "accepted", 1);
  await rig.store.outbox.setState(sending, "sending", 1);

  await rig.outbox.idle();

  expect(rig.channel.attempts.map(({ seq }) => seq)).toEqual([sending, queued]);
});

test("an end in the middle of a send leaves the message for the next start", async () => {
  await using rig = await openOutboxRig();
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
  await using rig = await openOutboxRig();
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
  await using rig = await openOutboxRig();
  for (let index = 0; index < 250; index += 1)
    await add(rig.store, `for nobody ${index}`, "main", { channel: "terminal" });
  await add(rig.store, "hello");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["hello"]);
  expect(new Set(await states(rig.store, "terminal"))).toEqual(new Set(["queued"]));
});

test("a long backlog is sent completely and in order", async () => {
  await using rig = await openOutboxRig();
  const texts = Array.from({ length: 600 }, (_, index) => `text ${index}`);
  for (const [index, text] of texts.entries()) await add(rig.store, text, `chat ${index % 3}`);

  await rig.outbox.idle();

  for (const chat of [0, 1, 2]) {
    expect(rig.channel.heard(`chat ${chat}`)).toEqual(texts.filter((_, index) => index % 3 === chat));
  }
  expect(rig.channel.attempts).toHaveLength(600);
});

test("a store that fails for a while delays messages but neither loses nor repeats them", async () => {
  await using opened = await openTestStore();
  const { outbox: rows } = opened.store;
  let failures = 4;
  const failSometimes = (): void => {
    failures -= 1;
    if (failures >= 0 && failures % 2 === 0) throw new Error("disk full");
  };
  await using rig = await openOutboxRig({
    store: {
      unsent: async (limit, after) => {
        failSometimes();
        return rows.unsent(limit, after);
      },
      setState: async (seq, state, attempts, error) => {
        failSometimes();
        await rows.setState(seq, state, attempts, error);
      },
      get: (seq) => rows.get(seq),
      requeue: (seqs, at) => rows.requeue(seqs, at),
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
  await using rig = await openOutboxRig({ publish: () => Promise.reject(new Error("disk full")) });
  await add(rig.store, "one");
  await add(rig.store, "two");

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["one", "two"]);
});

test("what one of several agents says begins with its name, on channels that do not tell it otherwise", async () => {
  const named = new Set<string>();
  await using rig = await openOutboxRig({ namesAgents: (channel) => named.has(channel) });
  const { store, channel, outbox } = rig;
  const draft = {
    group: "family",
    channel: "fake",
    chat: "family",
    kind: "reply",
    inReplyTo: [],
    turn: undefined,
  } as const;
  const reaction = { message: "1", sender: "ann", emoji: "👍" };
  const say = (text: string, more: object = {}) => store.outbox.add({ ...draft, text, agent: "Scout", ...more }, 1);
  await say("found it");
  await say("", { file: { path: "/x", name: "x", mimeType: "text/plain", bytes: 1 } });
  await say("", { reaction });
  await say("of the host", { agent: undefined });
  outbox.wake();
  await expect.poll(() => channel.attempts.length).toBe(4);
  named.add("fake");
  await say("again");
  outbox.wake();
  await expect.poll(() => channel.attempts.length).toBe(5);

  expect(channel.attempts.map(({ text }) => text)).toEqual(["Scout: found it", "Scout", "", "of the host", "again"]);
});
