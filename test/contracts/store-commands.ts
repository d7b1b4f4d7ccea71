import { expect, test } from "vitest";

import {
  draft,
  finished,
  insert,
  insertCommand,
  type OpenStore,
  restartableStore,
  runningTurn,
  say,
  step,
  stopping,
  inChat,
} from "./store-setup.ts";

function speechless(): never {
  throw new Error("no words");
}

/** Contract for commands: once, and atomic. */
export function testCommands(open: OpenStore): void {
  test("a command waits until it is carried out, also over a restart, and is never carried out again", async () => {
    await using home = await restartableStore(open);
    const first = await insertCommand(home.store, "1", "new");
    await insertCommand(home.store, "2", "status", "work");
    await insertCommand(home.store, "3", "stop");
    const again = await home.store.messages.insert(say("3"), {
      group: "family",
      state: "handled",
      at: 1,
      command: "stop",
    });

    const store = await home.restart();
    const pending = await store.commands.pending();
    const change = { ...stopping, stops: false, tell: () => ({ ...stopping.tell(), outgoing: [draft("done")] }) };
    const done = await Promise.all([store.commands.carryOut(first, change), store.commands.carryOut(first, change)]);

    expect(again.duplicate).toBe(true);
    expect(pending.map(({ command, message }) => [command, message.id])).toEqual([
      ["new", "1"],
      ["status", "2"],
      ["stop", "3"],
    ]);
    expect(done.filter((effect) => effect === undefined)).toHaveLength(1);
    expect((await store.commands.pending(inChat("family"))).map(({ command }) => command)).toEqual(["stop"]);
    expect(await store.outbox.unsent(10)).toMatchObject([{ text: "done" }]);
  });

  test("stopping ends what came before the command and nothing that came after it", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await insert(store, "before");
    const stop = await insertCommand(store, "stop", "stop");
    await insert(store, "after");
    await insert(store, "elsewhere", "waiting", "work");

    const found = await store.commands.carryOut(stop, stopping);

    expect(found?.turns).toMatchObject([{ turn: { id: "t" }, messages: [{ id: "m-t" }] }]);
    expect(found?.waiting.map(({ id }) => id)).toEqual(["before"]);
    expect(await store.turns.get("t")).toMatchObject({ state: "cancelled", reason: "Stopped.", endedAt: 95 });
    expect(await store.messages.ofTurn("t")).toMatchObject([{ state: "answered" }]);
    expect((await store.turns.steps("t")).at(-1)?.body).toEqual({ kind: "user", text: "stopped" });
    expect(await store.turns.finish("t", finished)).toBeUndefined();
    expect((await store.messages.waiting(inChat("family"), 10)).map(({ id }) => id)).toEqual(["after"]);
    expect(await store.messages.waitingCount(inChat("work"))).toBe(1);
  });

  test("of what stopping would end only what is chosen is, and the words are told both", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await insert(store, "mine");
    await insert(store, "theirs");
    const stop = await insertCommand(store, "stop", "stop");
    const told: number[] = [];

    const ended = await store.commands.carryOut(stop, {
      ...stopping,
      choose: (found) => ({ turns: [], waiting: found.waiting.filter(({ id }) => id === "mine"), work: [] }),
      tell: (chosen, found) => {
        told.push(chosen.turns.length, found.turns.length, chosen.waiting.length, found.waiting.length);
        return stopping.tell();
      },
    });

    expect(ended).toMatchObject({ turns: [], waiting: [{ id: "mine" }] });
    expect(told).toEqual([0, 1, 1, 2]);
    expect(await store.turns.get("t")).toMatchObject({ state: "running" });
    expect((await store.messages.waiting(inChat("family"), 10)).map(({ id }) => id)).toEqual(["theirs"]);
  });

  test("a turn that began after the command goes on", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const stop = await insertCommand(store, "stop", "stop");
    await runningTurn(store);

    const found = await store.commands.carryOut(stop, stopping);

    expect(found).toEqual({ turns: [], waiting: [], work: [] });
    expect(await store.turns.get("t")).toMatchObject({ state: "running" });
  });

  test("what cannot be worded has no effect at all", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await insert(store, "1");
    const stop = await insertCommand(store, "stop", "stop");
    const change = { ...stopping, tell: speechless };

    await expect(store.commands.carryOut(stop, change)).rejects.toThrow("no words");
    await expect(store.commands.giveUpOld(inChat("family"), { ...change, before: 1_000 })).rejects.toThrow("no words");

    expect(await store.commands.pending(inChat("family"))).toHaveLength(1);
    expect(await store.messages.waitingCount(inChat("family"))).toBe(1);
    expect(await store.turns.get("t")).toMatchObject({ state: "running" });
    expect(await store.outbox.unsent(10)).toEqual([]);
  });

  test("what is old becomes context and is told once; what is young, and other groups, stay as they are", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await insert(store, "old");
    await insert(store, "elsewhere", "waiting", "work");
    await store.messages.insert(say("young"), { group: "family", state: "waiting", at: 30 });
    const change = { at: 99, before: 30, tell: () => ({ ...stopping.tell(), outgoing: [draft("away")] }) };

    const found = await store.commands.giveUpOld(inChat("family"), change);
    const again = await store.commands.giveUpOld(inChat("family"), change);

    expect(found.waiting.map(({ id }) => id)).toEqual(["old"]);
    expect(again).toEqual({ turns: [], waiting: [], work: [] });
    expect((await store.messages.after(inChat("family"), 0, 10)).map(({ id, state }) => [id, state])).toEqual([
      ["old", "context"],
      ["young", "waiting"],
    ]);
    expect(await store.messages.waitingCount(inChat("work"))).toBe(1);
    expect(await store.outbox.unsent(10)).toMatchObject([{ text: "away", createdAt: 99 }]);
  });

  test("a message is as old as its sending, and late when it was on its way for long; order stays that of arrival", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const placed = { group: "family", state: "waiting", at: 1_000 } as const;
    await store.messages.insert(say("late", { sentAt: 100 }), { ...placed, late: true });
    await store.messages.insert(say("prompt", { sentAt: 990 }), placed);
    await store.messages.insert(say("future", { sentAt: 5_000 }), placed);
    await store.messages.insert(say("unknown"), placed);
    const states = async (): Promise<string[]> =>
      (await store.messages.after(inChat("family"), 0, 10)).map(({ id, state }) => `${id} ${state}`);

    const taken = (await store.messages.waiting(inChat("family"), 10)).map(({ id }) => id);
    const late = await store.commands.giveUpLate(inChat("family"), stopping);
    const none = await store.commands.giveUpLate(inChat("family"), stopping);
    const afterLate = await states();
    await store.commands.giveUpOld(inChat("family"), { ...stopping, before: 995 });

    expect(taken).toEqual(["prompt", "future", "unknown"]);
    expect([late.waiting.map(({ id }) => id), none.waiting]).toEqual([["late"], []]);
    expect(afterLate).toEqual(["late context", "prompt waiting", "future waiting", "unknown waiting"]);
    expect(await states()).toEqual(["late context", "prompt context", "future waiting", "unknown waiting"]);
  });

  test("a turn is as old as the last thing that was said or done in it", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await store.turns.addStep("t", { ...step("later"), at: 200 });

    const young = await store.commands.giveUpOld(inChat("family"), { ...stopping, before: 200 });
    const old = await store.commands.giveUpOld(inChat("family"), { ...stopping, before: 201 });

    expect(young.turns).toEqual([]);
    expect(old.turns).toMatchObject([{ turn: { id: "t" }, messages: [{ id: "m-t" }] }]);
    expect(await store.turns.get("t")).toMatchObject({ state: "cancelled" });
  });

  test("what waits is counted by group with its age, and in all up to a bound", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await store.messages.insert(say("1"), { group: "work", state: "waiting", at: 20 });
    await store.messages.insert(say("2"), { group: "work", state: "waiting", at: 5 });
    await insert(store, "3");
    await insert(store, "4", "context");

    expect(await store.messages.waitingByGroup()).toEqual([
      { group: "work", channel: "terminal", chat: "chat", messages: 2, oldestAt: 20 },
      { group: "family", channel: "terminal", chat: "chat", messages: 1, oldestAt: 10 },
    ]);
    expect([await store.messages.waitingTotal(10), await store.messages.waitingTotal(2)]).toEqual([3, 2]);
    expect([await store.messages.isKnown(say("4")), await store.messages.isKnown(say("5"))]).toEqual([true, false]);
  });
}
