import { expect, test } from "vitest";

import { draft, inChat, type OpenStore, restartableStore, say } from "./store-setup.ts";

/** Rows that are written before they are sent. */
export function testOutbox(open: OpenStore): void {
  test("what still has to be sent is given in order until it is accepted or dead", async () => {
    await using home = await restartableStore(open);
    const rows = [];
    for (const text of ["a", "b", "c", "d", "e", "f"]) rows.push(await home.store.outbox.add(draft(text), 5));
    const states = ["queued", "sending", "accepted", "delivered", "uncertain", "dead"] as const;
    for (const [index, row] of rows.entries()) await home.store.outbox.setState(row.seq, states[index] ?? "dead", 1);

    const store = await home.restart();

    expect((await store.outbox.unsent(10)).map(({ text, state }) => [text, state])).toEqual([
      ["a", "queued"],
      ["b", "sending"],
      ["e", "uncertain"],
    ]);
    expect(await store.outbox.unsent(2)).toHaveLength(2);
    expect((await store.outbox.unsent(10, rows[1]?.seq)).map(({ text }) => text)).toEqual(["e"]);
    expect(await store.outbox.counts()).toEqual({
      queued: 1,
      sending: 1,
      accepted: 1,
      delivered: 1,
      uncertain: 1,
      dead: 1,
    });
    await expect(store.outbox.setState(999, "dead", 1, "gone")).rejects.toMatchObject({ code: "not_found" });
  });

  test("files and reactions come back as they went in, and files are known as long as somebody may want them", async () => {
    await using home = await restartableStore(open);
    const { outbox: rows } = home.store;
    const file = { path: "/home/x/outgoing/abc", name: "a\u202e.pdf", mimeType: "application/pdf", bytes: 3 };
    const reaction = { message: "m", sender: "ann", emoji: "👍" };
    const old = await rows.add(draft("sent", { file, thread: "T1" }), 5);
    const unsent = await rows.add(draft("unsent", { file }), 6);
    const recent = await rows.add(draft("recent", { file }), 50);
    const plain = await rows.add(draft("", { reaction }), 60);
    for (const { seq } of [old, recent]) await rows.setState(seq, "accepted", 1);

    const store = await home.restart();

    expect(await store.outbox.get(old.seq)).toMatchObject({ file, thread: "T1" });
    expect(await store.outbox.get(unsent.seq)).toMatchObject({ file, reaction: undefined, thread: undefined });
    expect(await store.outbox.get(plain.seq)).toMatchObject({ file: undefined, reaction });
    expect((await store.outbox.withFiles(20)).map(({ text }) => text)).toEqual(["unsent", "recent"]);
  });

  test("a reader of what the agent said goes on where it was: replies of one group, whatever became of them", async () => {
    await using home = await restartableStore(open);
    const { outbox: rows } = home.store;
    const { name, channel, chat } = inChat("family");
    const place = { group: name, channel, chat };
    const one = await rows.add(draft("one", place), 5);
    await rows.add(draft("a notice", { ...place, kind: "notice" }), 5);
    const two = await rows.add(draft("two", place), 5);
    await rows.add(draft("elsewhere", { ...place, group: "other", chat: "elsewhere" }), 5);
    const three = await rows.add(draft("three", place), 5);
    await rows.setState(two.seq, "dead", 3, "gone");
    const read = async (after: number, limit: number) =>
      (await rows.saidIn(inChat("family"), after, limit)).map(({ text }) => text);

    expect(await read(0, 10)).toEqual(["one", "two", "three"]);
    expect(await read(0, 1)).toEqual(["one"]);
    expect(await read(one.seq, 2)).toEqual(["two", "three"]);
    expect(await read(three.seq, 2)).toEqual([]);
  });

  test("a reader of a channel gets every row after a point, whatever its state", async () => {
    await using home = await restartableStore(open);
    const { outbox: rows } = home.store;
    const first = await rows.add(draft("one", { channel: "http" }), 5);
    await rows.add(draft("elsewhere"), 5);
    const second = await rows.add(draft("two", { channel: "http" }), 5);
    await rows.setState(first.seq, "accepted", 2);

    expect((await rows.ofChannel("http", 0, 10)).map(({ text }) => text)).toEqual(["one", "two"]);
    expect(await rows.ofChannel("http", first.seq, 10)).toEqual([second]);
    expect(await rows.ofChannel("http", 0, 1)).toMatchObject([{ text: "one", state: "accepted", attempts: 2 }]);
    expect((await rows.get(first.seq))?.acceptedAt).toBeGreaterThan(0);
    expect(second.acceptedAt).toBeUndefined();
    expect(second.seq).toBeGreaterThan(first.seq);
  });

  test("messages are listed by state and group, the newest first, with why they are where they are", async () => {
    await using home = await restartableStore(open);
    const { outbox: rows } = home.store;
    const [first, second, third] = [
      await rows.add(draft("one"), 5),
      await rows.add(draft("two", { group: "work" }), 6),
      await rows.add(draft("three"), 7),
    ];
    await rows.setState(first.seq, "dead", 5, "no such chat");
    await rows.setState(second.seq, "dead", 1, "expired");

    const texts = async (filter: { state?: "dead"; group?: string; limit: number }): Promise<string[]> =>
      (await rows.list(filter)).map(({ text }) => text);

    expect(await texts({ limit: 10 })).toEqual(["three", "two", "one"]);
    expect(await texts({ limit: 1 })).toEqual(["three"]);
    expect(await texts({ state: "dead", limit: 10 })).toEqual(["two", "one"]);
    expect(await texts({ state: "dead", group: "family", limit: 10 })).toEqual(["one"]);
    expect(await rows.get(first.seq)).toMatchObject({ text: "one", attempts: 5, error: "no such chat" });
    expect(await rows.get(third.seq)).toEqual(third);
    expect(await rows.get(999)).toBeUndefined();
  });

  test("only dead and uncertain messages are put back in line, as new, and that is remembered", async () => {
    await using home = await restartableStore(open);
    const states = ["queued", "sending", "accepted", "delivered", "uncertain", "dead"] as const;
    const seqs: number[] = [];
    for (const state of states) {
      const { seq } = await home.store.outbox.add(draft(state), 5);
      await home.store.outbox.setState(seq, state, 3, "why");
      seqs.push(seq);
    }

    const requeued = await home.store.outbox.requeue([...seqs.toReversed(), 999], 70);
    const store = await home.restart();

    expect(requeued).toEqual(seqs.slice(4));
    const expected = { state: "queued", attempts: 0, createdAt: 5, retriedAt: 70, error: undefined };
    for (const seq of requeued) expect(await store.outbox.get(seq)).toMatchObject(expected);
    const untouched = await store.outbox.get(seqs[2] ?? 0);
    expect(untouched).toMatchObject({ state: "accepted", attempts: 3, error: "why" });
    expect(untouched?.retriedAt).toBeUndefined();
    expect(await store.outbox.requeue(seqs, 80)).toEqual([]);
  });

  test("the agent's own messages are recognised by number or turn, in their own chat only", async () => {
    await using home = await restartableStore(open);
    const { outbox: rows } = home.store;
    const { seq } = await rows.add(draft("one", { turn: "turn-1" }), 5);

    const own = (chat: string, reference: string) =>
      rows.own("terminal", chat, reference).then((row) => row !== undefined);

    expect([await own("chat", String(seq)), await own("chat", "turn-1")]).toEqual([true, true]);
    expect([await own("other", String(seq)), await own("other", "turn-1")]).toEqual([false, false]);
    for (const reference of ["", "0", "99", `0${seq}`, `${seq}.0`, ` ${seq}`, "turn", "1e0", "9".repeat(40)]) {
      expect(await own("chat", reference)).toBe(false);
    }
  });

  test("a member's message that is called by the number of a reply is not the agent's", async () => {
    await using home = await restartableStore(open);
    const { outbox, messages } = home.store;
    const { seq } = await outbox.add(draft("one", { turn: "turn-1" }), 5);
    await messages.insert(say(String(seq)), { group: "family", state: "context", at: 10 });
    await messages.insert(say("other", { chat: "elsewhere", id: "turn-1" }), {
      group: "work",
      state: "context",
      at: 10,
    });

    expect(await outbox.own("terminal", "chat", String(seq))).toBeUndefined();
    expect(await outbox.own("terminal", "chat", "turn-1")).toBeDefined();
  });
}
