import { expect, test } from "vitest";

import type { GroupChat } from "../../src/domain/chats/group.ts";
import {
  finished,
  inChat,
  insertCommand,
  insert,
  type OpenStore,
  restartableStore,
  runningTurn,
  say,
  stopping,
} from "./store-setup.ts";

const before = inChat("family");
const now: GroupChat = { name: "family", channel: "http", chat: "room" };

/** A group's name can come to another chat: what the first one has left is not the second one's. */
export function testChatIdentity(open: OpenStore): void {
  test("messages that another chat has left under the name of a group are not the group's", async () => {
    await using home = await restartableStore(open);
    const { messages } = home.store;
    await insert(home.store, "old", "context");
    await insert(home.store, "unanswered");
    const { seq } = await messages.insert(say("new", now), { group: "family", state: "waiting", at: 20 });

    const found = async (group: GroupChat): Promise<unknown[]> => [
      (await messages.after(group, 0, 10)).map(({ id }) => id),
      await messages.countAfter(group, 0),
      (await messages.waiting(group, 10)).map(({ id }) => id),
      await messages.waitingCount(group),
    ];

    expect(await found(now)).toEqual([["new"], 1, ["new"], 1]);
    expect(await found(before)).toEqual([["old", "unanswered"], 2, ["unanswered"], 1]);
    expect(await found({ ...now, chat: "elsewhere" })).toEqual([[], 0, [], 0]);
    expect(await messages.waitingByGroup()).toMatchObject([
      { group: "family", channel: "terminal", chat: "chat", messages: 1 },
      { group: "family", channel: "http", chat: "room", messages: 1, oldestAt: 20 },
    ]);
    expect((await messages.after(now, seq, 10)).length).toBe(0);
  });

  test("a command ends, drops and answers nothing of another chat, and is nobody else's to carry out", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await insert(store, "unanswered");
    await insertCommand(store, "left", "stop");
    const placed = { group: "family", state: "handled", at: 30, command: "stop" } as const;
    const { seq } = await store.messages.insert(say("stop", now), placed);

    const pending = await store.commands.pending(now);
    const found = await store.commands.carryOut(seq, stopping);

    expect(pending.map(({ message }) => message.id)).toEqual(["stop"]);
    expect((await store.commands.pending(before)).map(({ message }) => message.id)).toEqual(["left"]);
    expect(found).toEqual({ turns: [], waiting: [], work: [] });
    expect(await store.turns.get("t")).toMatchObject({ state: "running" });
    expect(await store.messages.waitingCount(before)).toBe(1);
  });

  test("what is old or late in one chat is not given up in another of the same name", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await insert(store, "old");
    await store.messages.insert(say("late"), { group: "family", state: "waiting", at: 10, late: true });

    const nothing = { turns: [], waiting: [], work: [] };
    expect(await store.commands.giveUpOld(now, { ...stopping, before: 1_000 })).toEqual(nothing);
    expect(await store.commands.giveUpLate(now, stopping)).toEqual(nothing);
    expect((await store.commands.giveUpLate(before, stopping)).waiting.map(({ id }) => id)).toEqual(["late"]);
    expect((await store.commands.giveUpOld(before, { ...stopping, before: 1_000 })).turns).toHaveLength(1);
    await store.turns.finish("t", finished);
  });

  test("a folder belongs to one chat, with the instructions that were used in it, until it is handed over", async () => {
    await using home = await restartableStore(open);
    const { groups } = home.store;
    await groups.noteInstructions("family", "AGENTS.md", { sha256: "x", bytes: 1, origins: [], changedAt: 1 });
    await groups.claimFolder(before);
    await groups.noteInstructions("family", "AGENTS.md", {
      sha256: "a".repeat(64),
      bytes: 7,
      origins: [],
      changedAt: undefined,
    });
    await groups.noteInstructions("family", "SOUL.md", { sha256: "c".repeat(64), bytes: 3, origins: [], changedAt: 5 });
    await groups.claimFolder({ ...now, name: "work" });

    const store = await home.restart();
    const first = await store.groups.folder("family");
    await store.groups.noteInstructions("family", "AGENTS.md", {
      sha256: "b".repeat(64),
      bytes: 8,
      origins: [],
      changedAt: 99,
    });
    await store.groups.claimFolder(now);

    const soul = ["SOUL.md", { sha256: "c".repeat(64), bytes: 3, origins: [], changedAt: 5 }] as const;
    const noted = (letter: string, bytes: number, changedAt?: number) =>
      new Map([["AGENTS.md", { sha256: letter.repeat(64), bytes, origins: [] as const, changedAt }] as const, soul]);
    expect(first).toEqual({ ...before, instructions: noted("a", 7) });
    expect(await store.groups.folders()).toEqual([
      { ...now, instructions: noted("b", 8, 99) },
      { ...now, name: "work", instructions: new Map() },
    ]);
    expect(await store.groups.folder("nobody")).toBeUndefined();
  });

  test("a chat that has left messages under a name is found, commands and the chat itself left out", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await store.messages.insert(say("own", now), { group: "family", state: "context", at: 1 });
    await insertCommand(store, "stop", "stop");
    expect(await store.groups.earlierChat(now)).toBeUndefined();

    await insert(store, "left", "answered");

    expect(await store.groups.earlierChat(now)).toEqual({ channel: "terminal", chat: "chat" });
    expect(await store.groups.earlierChat({ ...now, name: "work" })).toBeUndefined();
  });
}
