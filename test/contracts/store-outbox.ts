import { expect, test } from "vitest";

import { draft, type OpenStore, restartableStore } from "./store-setup.ts";

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
    expect(second.seq).toBeGreaterThan(first.seq);
  });

  test("the agent's own messages are recognised by number or turn, in their own chat only", async () => {
    await using home = await restartableStore(open);
    const { outbox: rows } = home.store;
    const { seq } = await rows.add(draft("one", { turn: "turn-1" }), 5);

    const own = (chat: string, reference: string) => rows.isOwn("terminal", chat, reference);

    expect([await own("chat", String(seq)), await own("chat", "turn-1")]).toEqual([true, true]);
    expect([await own("other", String(seq)), await own("other", "turn-1")]).toEqual([false, false]);
    for (const reference of ["", "0", "99", `0${seq}`, `${seq}.0`, ` ${seq}`, "turn", "1e0", "9".repeat(40)]) {
      expect(await own("chat", reference)).toBe(false);
    }
  });
}
