import { expect, test } from "vitest";

import { pairingLifetimeMs, type StoredGroup } from "../../src/domain/chats/group.ts";
import { draft, insertCommand, type OpenStore, restartableStore, stopping } from "./store-setup.ts";

const family: StoredGroup = {
  name: "family",
  channel: "http",
  chat: "room",
  settings: { policy: { tools: { shell: "deny" } }, budget: { tokensPerDay: 1000 } },
};
const work: StoredGroup = { name: "work", channel: "http", chat: "office", settings: { model: "main" } };

/** Groups added at run time, and chats that were seen. */
export function testGroupsAndChats(open: OpenStore): void {
  test("a group that was added is there after a restart, exactly as it was, until it is removed", async () => {
    await using home = await restartableStore(open);
    await home.store.groups.add(work);
    await home.store.groups.add(family);

    const store = await home.restart();

    expect(await store.groups.list()).toEqual([family, work]);
    await store.groups.change("work", {});
    await store.groups.change("nobody", { main: true });
    expect(await store.groups.list()).toEqual([family, { ...work, settings: {} }]);
    expect(await store.groups.remove("work")).toBe(true);
    expect(await store.groups.remove("work")).toBe(false);
    expect(await store.groups.list()).toEqual([family]);
  });

  test("a name or a chat that is taken is refused, and nothing is changed", async () => {
    await using home = await restartableStore(open);
    await home.store.groups.add(family);

    const sameName = home.store.groups.add({ ...family, chat: "elsewhere" });
    const sameChat = home.store.groups.add({ ...family, name: "other" });

    await expect(sameName).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("family") });
    await expect(sameChat).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("room") });
    expect(await home.store.groups.list()).toEqual([family]);
  });

  test("each group has its own number for ever, also when asked at once and after removal", async () => {
    await using home = await restartableStore(open);
    const { groups } = home.store;
    await groups.add(family);

    const numbers = await Promise.all(["family", "main", "family", "work"].map((name) => groups.ordinal(name)));
    await groups.remove("family");

    const store = await home.restart();
    expect(numbers).toEqual([0, 1, 0, 2]);
    expect(await store.groups.ordinal("family")).toBe(0);
    expect(await store.groups.ordinal("new")).toBe(3);
  });

  test("a chat is counted with its first and last time and its group of the moment", async () => {
    await using home = await restartableStore(open);
    const { chats } = home.store;
    await chats.seen({ channel: "whatsapp", chat: "a", group: undefined, at: 10 });
    await chats.seen({ channel: "whatsapp", chat: "a", group: "family", at: 30 });
    await chats.seen({ channel: "whatsapp", chat: "a", group: "family", at: 20 });
    await chats.seen({ channel: "whatsapp", chat: "b", group: undefined, at: 40 });
    await chats.memberSeen("family", { id: "ann", name: "Ann" }, 10);
    await chats.memberSeen("family", { id: "ann", name: "Anna" }, 20);
    await chats.memberSeen("family", { id: "ben", name: "Ben" }, 30);
    await chats.memberSeen("work", { id: "joe", name: "Joe" }, 40);

    const store = await home.restart();

    expect(await store.chats.members("family")).toEqual([
      { id: "ben", name: "Ben" },
      { id: "ann", name: "Anna" },
    ]);

    expect(await store.chats.list()).toEqual([
      { channel: "whatsapp", chat: "b", group: undefined, firstSeenAt: 40, lastSeenAt: 40, messages: 1 },
      { channel: "whatsapp", chat: "a", group: "family", firstSeenAt: 10, lastSeenAt: 30, messages: 3 },
    ]);
    expect(await store.chats.allMembers()).toEqual([
      { group: "family", id: "ann", name: "Anna" },
      { group: "family", id: "ben", name: "Ben" },
      { group: "work", id: "joe", name: "Joe" },
    ]);
  });

  test("what is told about a chat changes only what is told, and counts no message", async () => {
    await using home = await restartableStore(open);
    const { chats } = home.store;
    const chat = { channel: "whatsapp", chat: "a" };
    await chats.changed({ ...chat, at: 5, title: "Family", members: [{ id: "b", name: "Bea" }] });
    await chats.seen({ ...chat, group: "family", at: 7 });
    await chats.changed({ ...chat, at: 8, left: true });

    const store = await home.restart();
    const left = await store.chats.get("whatsapp", "a");
    await store.chats.changed({ ...chat, at: 9, title: "Friends", left: false });

    const known = { group: "family", messages: 1, members: [{ id: "b", name: "Bea" }], firstSeenAt: 5, lastSeenAt: 7 };
    expect(left).toMatchObject({ ...known, title: "Family", left: true });
    expect(await store.chats.get("whatsapp", "a")).toMatchObject({ ...known, title: "Friends", left: undefined });
    expect(await store.chats.get("whatsapp", "b")).toBeUndefined();
  });

  test("a chat has one request, which is answered together with the command that answers it", async () => {
    await using home = await restartableStore(open);
    const { requests, commands, outbox, chats } = home.store;
    const limits = { open: 5, openOfSender: 5, perHour: 50, lifetimeMs: 1_000 };
    const words = { limits, outgoing: [draft("somebody asks")] };
    const asked = { kind: "admission", channel: "x", title: "T", sender: { id: "m", name: "M" } } as const;
    await chats.seen({ channel: "x", chat: "a", group: undefined, at: 1 });

    const opened = [
      await requests.open({ ...asked, code: "A", chat: "a", at: 10 }, words),
      await requests.open({ ...asked, code: "B", chat: "a", at: 11 }, words),
      await requests.open({ ...asked, code: "C", chat: "c", at: 12 }, words),
    ];
    const [deny, approve] = [
      await insertCommand(home.store, "1", "deny"),
      await insertCommand(home.store, "2", "approve"),
    ];
    const answered = { ...stopping, stops: false };
    await commands.carryOut(deny, { ...answered, settles: { code: "A", as: "denied" } });
    await commands.carryOut(approve, { ...answered, settles: { code: "C", as: "approved" } });
    const again = await commands.carryOut(deny, { ...answered, settles: { code: "A", as: "approved" } });
    const silent = await requests.open({ ...asked, code: "D", chat: "a", at: 9_000 }, words);

    expect([...opened, silent]).toEqual([true, false, true, false]);
    expect(again).toBeUndefined();
    expect((await outbox.unsent(10)).map(({ text }) => text)).toEqual(["somebody asks", "somebody asks"]);
    expect(await requests.get("A")).toMatchObject({ ...asked, chat: "a", state: "denied", at: 10 });
    expect([await requests.get("C"), await requests.waiting(9_000)]).toEqual([undefined, 0]);
    expect(await chats.list()).toMatchObject([{ chat: "a", request: { state: "denied", code: "A" } }]);
    await requests.forget("x", "a");
    expect(await requests.get("A")).toBeUndefined();
  });

  test("pairings are counted by channel, apart from admissions, and their hour ends", async () => {
    await using home = await restartableStore(open);
    const limits = { open: 2, openOfSender: 1, perHour: 9, lifetimeMs: pairingLifetimeMs };
    const made = 10 * pairingLifetimeMs;
    const words = { limits, outgoing: [] };
    const ask = (channel: string, sender: string, at: number, kind: "admission" | "pairing" = "pairing") => {
      const code = `${channel}${sender}${at}${kind}`;
      const who = { id: sender, name: sender };
      return home.store.requests.open({ kind, code, channel, chat: code, title: undefined, sender: who, at }, words);
    };

    const opened = [
      await ask("x", "ann", made),
      await ask("x", "ann", made + 1),
      await ask("y", "ann", made + 2),
      await ask("x", "ben", made + 3),
      await ask("x", "joe", made + 4),
      await ask("x", "joe", made + 5, "admission"),
    ];
    const store = await home.restart();
    const waiting = await Promise.all(
      [made + 3, made + pairingLifetimeMs + 2, made - 1].map((now) => store.requests.waiting(now)),
    );
    const later = await ask("x", "joe", made + pairingLifetimeMs);
    const setBack = await ask("y", "ann", made - 5);

    expect(opened).toEqual([true, false, true, true, false, true]);
    // Its hour is over, or it was made before the clock was set back; the request of a chat of several stays.
    expect(waiting).toEqual([4, 2, 1]);
    expect([later, setBack]).toEqual([true, true]);
    expect((await store.requests.pairings()).map(({ sender }) => sender.id)).toEqual(["ann"]);
  });

  test("wrong codes are counted by place, each message once, also over a restart", async () => {
    await using home = await restartableStore(open);
    const note = (place: string, message: number) => home.store.requests.noteTry({ place, message, at: message * 10 });
    const counts = [await note("a", 1), await note("a", 1), await note("b", 2), await note("a", 3)];

    const { requests } = await home.restart();

    expect(counts).toEqual([1, 1, 1, 2]);
    expect(await requests.tries("a")).toEqual({ wrong: 2, at: 30 });
    await requests.forgetTries("a");
    expect([await requests.tries("a"), await requests.tries("b")]).toEqual([undefined, { wrong: 1, at: 20 }]);
  });
}
