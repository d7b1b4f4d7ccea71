import { expect, test } from "vitest";

import {
  finished,
  insert,
  insertCommand,
  type OpenStore,
  restartableStore,
  runningTurn,
  say,
  stopping,
  inChat,
} from "./store-setup.ts";

const placedInFamily = { group: "family", state: "waiting", at: 10 } as const;

/** Each message once, in order, in one state. */
export function testMessages(open: OpenStore): void {
  test("a message that the channel delivers again is stored once, also after a restart", async () => {
    await using home = await restartableStore(open);
    const first = await home.store.messages.insert(say("1"), { group: "family", state: "waiting", at: 10 });

    const store = await home.restart();
    const again = await store.messages.insert(say("1", { text: "changed" }), { group: "x", state: "context", at: 99 });

    expect(first.duplicate).toBe(false);
    expect(again).toEqual({ seq: first.seq, duplicate: true });
    expect(await store.messages.after(inChat("family"), 0, 10)).toMatchObject([
      { text: "text of 1", state: "waiting" },
    ]);
    expect(await store.messages.after(inChat("x"), 0, 10)).toEqual([]);
  });

  test("a reader of what was said goes on where it was, oldest first, in one group, and gets no commands", async () => {
    await using home = await restartableStore(open);
    const { messages } = home.store;
    const one = await insert(home.store, "one");
    const two = await insert(home.store, "two", "context");
    await insertCommand(home.store, "three", "new");
    const elsewhere = say("elsewhere", { chat: inChat("other").chat });
    await messages.insert(elsewhere, { group: "other", state: "waiting", at: 11 });
    const four = await insert(home.store, "four");
    const read = async (after: number, limit: number) =>
      (await messages.following(inChat("family"), after, limit)).map(({ seq }) => seq);

    expect(await read(0, 10)).toEqual([one, two, four]);
    expect(await read(0, 2)).toEqual([one, two]);
    expect(await read(two, 2)).toEqual([four]);
    expect(await read(four, 2)).toEqual([]);
  });

  test("messages are found by their numbers, in order, whatever their state, and numbers without one are left out", async () => {
    await using home = await restartableStore(open);
    const { seq: one } = await home.store.messages.insert(say("one", { thread: "T1" }), placedInFamily);
    const two = await insertCommand(home.store, "two", "new");
    await insert(home.store, "three");

    const found = await home.store.messages.withSeqs([two, 99_999, one]);

    expect(found.map(({ seq, id, thread }) => [seq, id, thread])).toEqual([
      [one, "one", "T1"],
      [two, "two", undefined],
    ]);
    expect(await home.store.messages.withSeqs([])).toEqual([]);
  });

  test("a message is overtaken when others of its chat came after it, as long as its id names one that was said to the agent", async () => {
    await using home = await restartableStore(open);
    const { messages } = home.store;
    const overtaken = async (id: string) => (await messages.overtaken(inChat("family"), id))?.id;
    await insert(home.store, "one");
    const newest = await overtaken("one");
    await insert(home.store, "two", "context");
    await insertCommand(home.store, "three", "status");

    expect([
      newest,
      await overtaken("one"),
      await overtaken("two"),
      await overtaken("three"),
      await overtaken("four"),
    ]).toEqual([undefined, "one", undefined, undefined, undefined]);
    await messages.insert(say("one", { sender: { id: "bea", name: "Bea" } }), placedInFamily);
    expect(await overtaken("one")).toBeUndefined();
    expect(await overtaken("three")).toBe("three");
    expect(await overtaken("two")).toBeUndefined();
    expect(await messages.overtaken(inChat("family"), "two", { setAside: true })).toMatchObject({ id: "two" });
    expect(await messages.overtaken(inChat("work"), "two", { setAside: true })).toBeUndefined();
    expect(await messages.overtaken(inChat("work"), "three")).toBeUndefined();
  });

  test("a message for several agents waits for each of them once, and is one message for everybody else", async () => {
    await using home = await restartableStore(open);
    const { messages } = home.store;
    const [crab, scout] = [{ except: ["scout", "clerk"] }, { only: "scout" }];
    const placed = { ...placedInFamily, agents: ["main", "scout"] };
    const { seq } = await messages.insert(say("1"), placed);
    // What a sender calls its messages may look like anything.
    const alike = await messages.insert(say("scout 1"), { ...placedInFamily, agents: ["clerk"] });
    const again = await messages.insert(say("1"), placed);
    await messages.insert(say("2"), { ...placedInFamily, state: "context" });
    await messages.insert(say("3"), placedInFamily);
    await messages.insert(say("4"), { ...placedInFamily, agents: ["gone"] });

    const waiting = async (agent: Parameters<typeof messages.waiting>[2]) =>
      (await messages.waiting(inChat("family"), 10, agent)).map(({ id }) => id);

    expect([again, alike.duplicate]).toEqual([{ seq, duplicate: true }, false]);
    expect(await waiting(crab)).toEqual(["1", "3", "4"]);
    expect(await waiting(scout)).toEqual(["1"]);
    expect(await waiting({ only: "clerk" })).toEqual(["scout 1"]);
    expect(await messages.waitingCount(inChat("family"), scout)).toBe(1);
    expect((await messages.waiting(inChat("family"), 10, scout)).at(0)).toMatchObject({ agent: "scout", copyOf: seq });
    // With one agent left, all of it is that one's.
    expect(await messages.waitingCount(inChat("family"), { except: [] })).toBe(5);
    expect(await messages.waitingCount(inChat("family"))).toBe(5);
    for (const shown of [messages.after(inChat("family"), 0, 10), messages.following(inChat("family"), 0, 10)])
      expect((await shown).map(({ id }) => id)).toEqual(["1", "scout 1", "2", "3", "4"]);
    expect(await messages.countAfter(inChat("family"), 0)).toBe(5);
  });

  test("the same id from another sender, chat or channel is another message", async () => {
    await using home = await restartableStore(open);
    const { messages: stored } = home.store;
    const placed = { group: "family", state: "waiting", at: 10 } as const;

    const answers = [
      await stored.insert(say("1"), placed),
      await stored.insert(say("1", { sender: { id: "bob", name: "Ann" } }), placed),
      await stored.insert(say("1", { chat: "other" }), placed),
      await stored.insert(say("1", { channel: "http" }), placed),
    ];

    expect(answers.map((answer) => answer.duplicate)).toEqual([false, false, false, false]);
    expect(new Set(answers.map((answer) => answer.seq)).size).toBe(4);
  });

  test("everything a message carries comes back as it was said", async () => {
    await using home = await restartableStore(open);
    const text = "line\n\u0000 ' \" \\ \u001b[31m \u202e 👩‍👩‍👧 ${x} $1 ?";
    const quote = { id: "0", author: { id: "bob", name: "Bob" }, text: "earlier", origins: ["guest"] } as const;
    const picture = { path: "/workspace/group/inbox/1.png", mimeType: "image/png", bytes: 3 };
    const attachments = [
      { kind: "image", name: text, file: picture },
      { kind: "video", failure: "it took too long" },
    ] as const;
    const { seq } = await home.store.messages.insert(
      say("1", { text, quote: { id: "claimed" }, sentAt: 1_700_000_000_001.5 }),
      {
        quote,
        group: "family",
        state: "context",
        at: 1_700_000_000_123,
        attachments,
      },
    );

    const store = await home.restart();

    expect(await store.messages.after(inChat("family"), 0, 10)).toEqual([
      {
        seq,
        group: "family",
        channel: "terminal",
        chat: "chat",
        id: "1",
        sender: { id: "ann", name: "Ann" },
        text,
        quote,
        attachments,
        sentAt: 1_700_000_000_002,
        state: "context",
        turn: undefined,
        receivedAt: 1_700_000_000_123,
      },
    ]);
  });

  test("of many messages after a point the newest are given, oldest first, and commands are left out", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const first = await insert(store, "1");
    await insert(store, "2", "context");
    await insert(store, "3", "handled");
    await insert(store, "4", "answered");
    await insert(store, "5");
    await insert(store, "6", "waiting", "work");

    const ids = async (after: number, limit: number) =>
      (await store.messages.after(inChat("family"), after, limit)).map((message) => message.id);

    expect(await ids(0, 10)).toEqual(["1", "2", "4", "5"]);
    expect(await ids(first, 10)).toEqual(["2", "4", "5"]);
    expect(await ids(0, 2)).toEqual(["4", "5"]);
    expect(await store.messages.countAfter(inChat("family"), 0)).toBe(4);
    expect(await store.messages.countAfter(inChat("family"), first)).toBe(3);
    expect(await store.messages.countAfter(inChat("nobody"), 0)).toBe(0);
  });

  test("waiting messages are listed by group, and the group that waits longest comes first", async () => {
    await using home = await restartableStore(open);
    await insert(home.store, "1", "context", "idle");
    await insert(home.store, "2", "waiting", "work");
    await insert(home.store, "3", "waiting", "family");
    await insert(home.store, "4", "waiting", "work");

    const { messages: stored } = await home.restart();

    expect(await stored.waitingGroups()).toEqual(["work", "family"]);
    expect((await stored.waiting(inChat("work"), 10)).map((message) => message.id)).toEqual(["2", "4"]);
    expect((await stored.waiting(inChat("work"), 1)).map((message) => message.id)).toEqual(["2"]);
    expect([await stored.waitingCount(inChat("work")), await stored.waitingCount(inChat("idle"))]).toEqual([2, 0]);
  });

  test("dropping what waits touches nothing else and says what was dropped", async () => {
    await using home = await restartableStore(open);
    await insert(home.store, "1");
    await insert(home.store, "2", "context");
    await insert(home.store, "3");
    await insert(home.store, "4", "waiting", "work");

    const stop = await insertCommand(home.store, "stop", "stop");
    const dropped = await home.store.commands.carryOut(stop, stopping);

    const store = await home.restart();
    expect(dropped?.waiting.map(({ id }) => id)).toEqual(["1", "3"]);
    expect(await store.messages.waitingGroups()).toEqual(["work"]);
    expect((await store.messages.after(inChat("family"), 0, 10)).map((message) => message.id)).toEqual(["2"]);
  });

  test("messages of a failed turn can be put back once; those of a good or running turn never", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const failed = await runningTurn(store, "failed");
    expect(await store.messages.requeue("failed")).toBe(0);
    await store.turns.finish("failed", { ...finished, state: "failed", reason: "model_unavailable" });
    await runningTurn(store, "good");
    await store.turns.finish("good", finished);

    expect(await store.messages.requeue("failed")).toBe(1);

    expect(await store.messages.requeue("failed")).toBe(0);
    expect(await store.messages.requeue("good")).toBe(0);
    expect(await store.messages.requeue("unknown")).toBe(0);
    expect(await store.messages.waiting(inChat("family"), 10)).toMatchObject([
      { seq: failed.message, turn: undefined },
    ]);
  });

  test("two hundred messages that arrive at once are all stored, each once, in one order", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const arrivals = Array.from({ length: 200 }, (_, index) => String(index % 100));

    const answers = await Promise.all(arrivals.map((id) => store.messages.insert(say(id), placedInFamily)));

    expect(answers.filter((answer) => answer.duplicate)).toHaveLength(100);
    const stored = await store.messages.after(inChat("family"), 0, 1_000);
    expect(stored).toHaveLength(100);
    const seqs = stored.map((message) => message.seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(answers.map((answer) => answer.seq).toSorted((a, b) => a - b)).toEqual(seqs.flatMap((seq) => [seq, seq]));
  });
}
