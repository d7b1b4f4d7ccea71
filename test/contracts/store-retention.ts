import { expect, test } from "vitest";

import type { MessageState } from "../../src/domain/chats/message.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import {
  byMessage,
  draft,
  finished,
  insert,
  insertCommand,
  type OpenStore,
  restartableStore,
  say,
  step,
  stopping,
  inChat,
} from "./store-setup.ts";
import { ofMember } from "../support/lineages.ts";

const old = 10;
const young = 1_000;
const before = 500;
const everything = { after: 0, limit: 100, before };
const sender = { id: "ann", name: "Ann" };

/** A message with all that can be taken away from it. */
async function insertFull(store: Store, id: string, state: MessageState, at = old): Promise<number> {
  const quote = { id: "0", author: { id: "bob", name: "Bob" }, text: "earlier" };
  const attachments = [{ kind: "video", failure: "it took too long" }] as const;
  const { seq } = await store.messages.insert(say(id, { sender }), { group: "family", state, at, attachments, quote });
  return seq;
}

async function textsIn(store: Store, group = "family"): Promise<string[]> {
  return (await store.messages.after(inChat(group), 0, 100)).map(({ text }) => text);
}

/** The family's session, with everything up to `cursor` shown to the model. */
async function showUpTo(store: Store, cursor: number, turn = "shown"): Promise<string> {
  const { id: session } = await store.sessions.open("agent:terminal:chat", "family");
  const begins = { id: turn, session, group: "family", conversation: 1, ...byMessage, at: old };
  await store.turns.begin(begins, { ...step("hello", { messages: [], cursor, lineage: ofMember }), at: old });
  await store.turns.finish(turn, finished);
  return session;
}

/** Nothing is lost that somebody could still need. */
export function testRetention(open: OpenStore): void {
  test("old messages that the model was shown lose what they say, and are known all the same", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const seqs = [await insertFull(store, "1", "context"), await insertFull(store, "2", "answered")];
    await insertFull(store, "3", "context", young);
    await showUpTo(store, 100);

    const first = await store.retention.messages(everything, 200);
    const again = await store.retention.messages(everything, 200);

    const restarted = await home.restart();
    const kept = await restarted.messages.after(inChat("family"), 0, 10);
    expect([first, again]).toEqual([
      { pruned: 2, next: undefined },
      { pruned: 0, next: undefined },
    ]);
    const gone = { text: "", quote: undefined, attachments: undefined, sender: { id: "ann", name: "" }, pruned: true };
    expect(kept).toMatchObject([
      { ...gone, seq: seqs[0] },
      { ...gone, seq: seqs[1] },
      { text: "text of 3", sender },
    ]);
    expect(kept[2]?.pruned).toBeUndefined();
    expect(await restarted.messages.insert(say("1"), { group: "family", state: "waiting", at: 2_000 })).toEqual({
      seq: seqs[0],
      duplicate: true,
    });
  });

  test("what waits, belongs to a running turn or has not been shown is left alone however old it is", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const shown = await insertFull(store, "shown", "context");
    const session = await showUpTo(store, shown);
    await insertFull(store, "waiting", "waiting");
    const taken = await insertFull(store, "taken", "waiting");
    await store.turns.begin(
      { id: "running", session, group: "family", conversation: 1, ...byMessage, at: old },
      step("hello", { messages: [taken], cursor: shown, lineage: ofMember }),
    );
    await insertFull(store, "unseen", "context");

    const { pruned } = await store.retention.messages(everything, 200);

    expect(pruned).toBe(1);
    expect(await textsIn(store)).toEqual(["", "text of waiting", "text of taken", "text of unseen"]);
  });

  test("what nobody has shown to the model goes when newer messages have pushed it out of sight", async () => {
    await using home = await restartableStore(open);
    for (const id of ["1", "2", "3", "4", "5"]) await insertFull(home.store, id, "context");

    const { pruned } = await home.store.retention.messages(everything, 2);

    expect(pruned).toBe(3);
    expect(await textsIn(home.store)).toEqual(["", "", "", "text of 4", "text of 5"]);
  });

  test("a command keeps what it says until it is carried out", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const stop = await insertCommand(store, "stop", "stop");
    const early = await store.retention.messages(everything, 200);

    await store.commands.carryOut(stop, stopping);
    const late = await store.retention.messages(everything, 200);

    expect([early.pruned, late.pruned]).toEqual([0, 1]);
  });

  test("a failed turn whose messages are gone cannot be tried again with nothing", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const message = await insert(store, "m");
    const { id: session } = await store.sessions.open("agent:terminal:chat", "family");
    const takes = { messages: [message], cursor: message, lineage: ofMember };
    await store.turns.begin(
      { id: "t", session, group: "family", conversation: 1, ...byMessage, at: old },
      step("hello", takes),
    );
    await store.turns.finish("t", { ...finished, state: "failed", reason: "model_unavailable" });
    await store.retention.messages(everything, 200);

    expect(await store.messages.requeue("t")).toBe(0);
    expect(await store.messages.ofTurn("t")).toMatchObject([{ pruned: true }]);
  });

  test("windows follow one another until nothing old is left behind, whatever the times of single rows", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const times = [old, young, old, old, young, old, young, young, young, young];
    for (const [index, at] of times.entries()) await insertFull(store, String(index), "handled", at);

    const windows: number[] = [];
    for (let after: number | undefined = 0; after !== undefined;) {
      const { pruned, next }: { pruned: number; next: number | undefined } = await store.retention.messages(
        { after, limit: 2, before },
        200,
      );
      windows.push(pruned);
      after = next;
    }

    expect(windows).toEqual([1, 2, 1, 0]);
  });

  test("steps of conversations that have ended go, those of the current one and the turns themselves never", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const session = await showUpTo(store, 0, "first");
    const command = await insertCommand(store, "new", "new");
    await store.commands.carryOut(command, { ...stopping, renews: [session] });
    const begins = { id: "second", session, group: "family", conversation: 2, ...byMessage, at: old };
    await store.turns.begin(begins, { ...step("hello again"), at: old });
    await store.turns.finish("second", finished);

    const { pruned } = await store.retention.steps(everything);

    expect(pruned).toBe(1);
    expect(await store.turns.steps("first")).toEqual([]);
    expect(await store.turns.get("first")).toMatchObject({ state: "done" });
    expect(await store.turns.steps("second")).toHaveLength(1);
    expect(await store.turns.history(session, 2, 0)).toHaveLength(1);
  });

  test("work that is over loses its text; what is due keeps it, and no cause counts twice because of it", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const { id: session } = await store.sessions.open("main:terminal:chat", "family");
    const work = {
      group: "family",
      session,
      cause: "api",
      dueAt: 1,
      replyTo: { kind: "nowhere" },
      lineage: ofMember,
    } as const;
    for (const id of ["dropped", "due"]) {
      await store.work.add({ ...work, id, dedupe: id, origin: "member", text: "secret" }, 10);
    }
    await store.work.drop("dropped", "not now");

    const { pruned } = await store.retention.work(everything);
    const again = await store.retention.work(everything);

    expect([pruned, again.pruned]).toEqual([1, 0]);
    expect((await store.work.list({ limit: 9 })).map(({ id, text }) => [id, text])).toEqual([
      ["due", "secret"],
      ["dropped", ""],
    ]);
    const twice = { ...work, id: "new", dedupe: "dropped", origin: "member", text: "x" } as const;
    expect(await store.work.add(twice, 20)).toMatchObject({ duplicate: true });
  });

  test("replies that went out or were given up lose their text and file; others, and their numbers, stay", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const file = { path: "/x", name: "x.png", mimeType: "image/png", bytes: 3 };
    const seqs = [];
    for (const state of ["accepted", "delivered", "dead", "queued", "uncertain"] as const) {
      const { seq } = await store.outbox.add(draft(state, { file, turn: `turn of ${state}` }), old);
      if (state !== "queued") await store.outbox.setState(seq, state, 1);
      seqs.push(seq);
    }
    await store.outbox.add(draft("young"), young);

    const { pruned } = await store.retention.replies(everything);

    const rows = (await store.outbox.list({ limit: 10 })).toReversed();
    expect(pruned).toBe(3);
    expect(rows.map(({ text }) => text)).toEqual(["", "", "", "queued", "uncertain", "young"]);
    expect(rows.map(({ file: sent }) => sent?.name)).toEqual([
      undefined,
      undefined,
      undefined,
      "x.png",
      "x.png",
      undefined,
    ]);
    expect(rows.slice(0, 5).map(({ seq }) => seq)).toEqual(seqs);
    expect(await store.outbox.own("terminal", "chat", "turn of accepted")).toMatchObject({ text: "", pruned: true });
    expect((await store.outbox.ofChannel("terminal", 0, 10)).map(({ text }) => text)).toEqual([
      "queued",
      "uncertain",
      "young",
    ]);
    expect(await store.outbox.requeue(seqs, 2_000)).toEqual([seqs[4]]);
  });

  test("chats that are no group and were not heard of for long are forgotten, but for those that have asked", async () => {
    await using home = await restartableStore(open);
    const { chats, requests, retention } = home.store;
    for (const chat of ["one", "two", "asking"]) await chats.seen({ channel: "x", chat, group: undefined, at: old });
    await chats.seen({ channel: "x", chat: "group", group: "family", at: old });
    await chats.seen({ channel: "x", chat: "young", group: undefined, at: young });
    const limits = { open: 9, openOfSender: 9, perHour: 9, lifetimeMs: 1e12 };
    await requests.open(
      { kind: "admission", code: "ABCDE", channel: "x", chat: "asking", title: undefined, sender, at: old },
      { limits, outgoing: [] },
    );

    const forgotten = [await retention.strangers(before, 1), await retention.strangers(before, 10)];

    expect(forgotten).toEqual([1, 1]);
    expect((await chats.list()).map(({ chat }) => chat).toSorted()).toEqual(["asking", "group", "young"]);
  });

  test("old days are forgotten a few at a time", async () => {
    await using home = await restartableStore(open);
    const { intake, usage, retention } = home.store;
    const limits = { tokensPerDay: undefined, usdPerDay: undefined };
    for (const day of ["2024-12-01", "2026-01-13", "2026-01-15"]) {
      const accounts = ["a", "b"].map((name) => ({ kind: "group", name }) as const);
      await intake.charge({ day, accounts, amount: { messages: 1, bytes: 1, attachmentBytes: 0 } });
      await usage.reserve({ group: "family", day, tokens: 5, usd: 0, groupLimits: limits, totalLimits: limits });
    }
    const days = { usage: "2025-01-01", intake: "2026-01-14" };

    // Three rows of what was taken in; one of use, with the call that was never settled.
    expect([await retention.days(days, 3), await retention.days(days, 3), await retention.days(days, 3)]).toEqual([
      5, 1, 0,
    ]);

    expect(await usage.ofDay("2024-12-01")).toEqual([]);
    expect(await usage.ofDay("2026-01-13")).toHaveLength(1);
    expect(await intake.ofDay("2026-01-15", { kind: "group", name: "b" })).toMatchObject({ messages: 1 });
  });
}
