import { expect, test } from "vitest";

import { causes, type NewWork } from "../../src/domain/work/work.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import {
  finished,
  insertCommand,
  type OpenStore,
  type Restartable,
  restartableStore,
  runningTurn,
  step,
  stopping,
} from "./store-setup.ts";
import { lineageOf, ofMember } from "../support/lineages.ts";

const main = "main:terminal:chat";
const nowhere = { kind: "nowhere" } as const;

/** A store with the family's main session and one for a task. */
async function openHome(open: OpenStore): Promise<Restartable & { readonly main: string; readonly task: string }> {
  const home = await restartableStore(open);
  const { id } = await home.store.sessions.open(main, "family");
  const task = await home.store.sessions.open(`${main}:task:12`, "family", { kind: "task", parent: id });
  return Object.assign(home, { main: id, task: task.id });
}

function work(id: string, session: string, more: Partial<NewWork> = {}): NewWork {
  return {
    id,
    group: "family",
    session,
    cause: "schedule",
    dueAt: 100,
    replyTo: nowhere,
    origin: "member",
    lineage: ofMember,
    text: `do ${id}`,
    ...more,
  };
}

/** Begins a turn with this work. */
async function take(store: Store, turn: string, session: string, seq: number): Promise<void> {
  const begins = { id: turn, session, group: "family", conversation: 1, cause: "schedule", replyTo: nowhere, at: 200 };
  await store.turns.begin(
    { ...begins, cause: "schedule" },
    { ...step("do it"), takesWork: { seq: seq, lineage: ofMember } },
  );
}

/** Work is stored once for each cause, taken by one turn, and settled with it. */
export function testWork(open: OpenStore): void {
  test("work of every cause comes back as it was stored, and survives a restart", async () => {
    await using home = await openHome(open);
    const others = causes.filter((cause) => cause !== "message");
    for (const cause of others) {
      const replyTo = { kind: "chat", channel: "terminal", chat: "chat" } as const;
      const more = {
        cause,
        dedupe: `${cause}:1`,
        lineage: lineageOf("admin", "terminal:ann"),
        replyTo,
        origin: "owner",
      } as const;
      await home.store.work.add(work(`of-${cause}`, home.main, more), 50);
    }

    const store = await home.restart();

    expect((await store.work.list({ limit: 20 })).map(({ cause }) => cause)).toEqual(others.toReversed());
    expect(await store.work.get("of-webhook")).toEqual({
      seq: 3,
      id: "of-webhook",
      group: "family",
      session: home.main,
      cause: "webhook",
      dueAt: 100,
      dedupe: "webhook:1",
      replyTo: { kind: "chat", channel: "terminal", chat: "chat" },
      origin: "owner",
      lineage: lineageOf("admin", "terminal:ann"),
      text: "do of-webhook",
      state: "due",
      turn: undefined,
      reason: undefined,
      createdAt: 50,
    });
    expect(await store.work.get("nothing")).toBeUndefined();
  });

  test("what is reported twice is stored once; another thing under a known id is refused", async () => {
    await using home = await openHome(open);
    const { store } = home;

    const first = await store.work.add(work("a", home.main, { dedupe: "task:12:100" }), 50);
    const again = await store.work.add(work("b", home.main, { dedupe: "task:12:100" }), 60);

    expect(first.duplicate).toBe(false);
    expect(again).toEqual({ seq: first.seq, id: "a", duplicate: true });
    expect(await store.work.get("b")).toBeUndefined();
    await expect(store.work.add(work("a", home.main), 70)).rejects.toMatchObject({ code: "conflict" });
    await expect(store.work.add(work("c", "no-session"), 70)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a session is given its oldest work that is due, and nothing before its time", async () => {
    await using home = await openHome(open);
    const { store } = home;
    await store.work.add(work("later", home.main, { dueAt: 300 }), 50);
    await store.work.add(work("second", home.main, { dueAt: 200 }), 50);
    await store.work.add(work("first", home.main, { dueAt: 100 }), 50);
    await store.work.add(work("task", home.task, { dueAt: 150 }), 50);

    expect(await store.work.due(home.main, 99)).toBeUndefined();
    expect(await store.work.due(home.main, 250)).toMatchObject({ id: "first" });
    expect(await store.work.dueSessions(99)).toEqual([]);
    expect(await store.work.dueSessions(250)).toEqual([
      { key: main, group: "family" },
      { key: `${main}:task:12`, group: "family" },
    ]);
    expect(await store.work.nextDueAt(250)).toBe(300);
    expect(await store.work.nextDueAt(300)).toBeUndefined();
  });

  test("a turn takes its work and settles it at its end; nobody else gets it", async () => {
    await using home = await openHome(open);
    const { seq } = await home.store.work.add(work("a", home.main), 50);

    await take(home.store, "t", home.main, seq);
    const second = take(home.store, "u", home.main, seq);

    await expect(second).rejects.toMatchObject({ code: "gone" });
    expect(await home.store.turns.get("u")).toBeUndefined();
    expect(await home.store.work.get("a")).toMatchObject({ state: "taken", turn: "t" });
    expect(await home.store.work.due(home.main, 500)).toBeUndefined();
    const store = await home.restart();
    expect(await store.turns.runningIn(home.main)).toMatchObject({ id: "t", cause: "schedule", replyTo: nowhere });
    expect(await store.turns.runningIn(home.task)).toBeUndefined();
    await store.turns.finish("t", finished);
    expect(await store.work.get("a")).toMatchObject({ state: "settled", turn: "t" });
  });

  test("what follows from a turn is stored with its end, and not at all when it has ended before", async () => {
    await using home = await openHome(open);
    const { store } = home;
    const { seq } = await store.work.add(work("a", home.task), 50);
    await take(store, "t", home.task, seq);
    const follows = { ...finished, work: [work("agent:t", home.main, { cause: "agent", dedupe: "agent:t" })] };

    await store.turns.finish("t", follows);
    await store.turns.finish("t", { ...follows, work: [work("twice", home.main)] });

    expect((await store.work.list({ limit: 9 })).map(({ id, state }) => `${id} ${state}`)).toEqual([
      "agent:t due",
      "a settled",
    ]);
  });

  test("work of a failed turn can be put back, that of a good one cannot", async () => {
    await using home = await openHome(open);
    const { store } = home;
    for (const [id, state] of [
      ["good", "done"],
      ["bad", "failed"],
    ] as const) {
      const { seq } = await store.work.add(work(id, home.main), 50);
      await take(store, `turn-${id}`, home.main, seq);
      await store.turns.finish(`turn-${id}`, { ...finished, state });
    }

    const put = [await store.work.requeue("turn-good"), await store.work.requeue("turn-bad")];

    expect(put).toEqual([0, 1]);
    expect(await store.work.due(home.main, 500)).toMatchObject({ id: "bad", turn: undefined });
  });

  test("work is dropped for a reason, once, and only while nobody has it", async () => {
    await using home = await openHome(open);
    const { store } = home;
    const { seq } = await store.work.add(work("taken", home.main), 50);
    await store.work.add(work("unwanted", home.main), 50);
    await take(store, "t", home.main, seq);

    const dropped = [];
    for (const id of ["unwanted", "unwanted", "taken", "nothing"]) dropped.push(await store.work.drop(id, "not now"));

    expect(dropped).toEqual([true, false, false, false]);
    expect(await store.work.get("unwanted")).toMatchObject({ state: "dropped", reason: "not now" });
    expect((await store.work.list({ limit: 9, state: "dropped" })).map(({ id }) => id)).toEqual(["unwanted"]);
    expect(await store.work.list({ limit: 9, group: "work" })).toEqual([]);
  });

  test("a stop in the chat drops what the group's agent has to do now, and leaves what is for later", async () => {
    await using home = await openHome(open);
    const { store } = home;
    const { seq } = await store.work.add(work("running", home.task), 50);
    await take(store, "t", home.task, seq);
    await store.work.add(work("now", home.main, { dueAt: 90 }), 50);
    await store.work.add(work("later", home.main, { dueAt: 96 }), 50);
    await store.work.add(
      work("other", (await store.sessions.open("main:terminal:b", "work")).id, { group: "work" }),
      50,
    );

    const found = await store.commands.carryOut(await insertCommand(store, "stop", "stop"), stopping);

    expect(found).toMatchObject({ turns: [{ turn: { id: "t" } }], work: [{ id: "now" }] });
    expect((await store.work.list({ limit: 9 })).map(({ id, state }) => `${id} ${state}`)).toEqual([
      "other due",
      "later due",
      "now dropped",
      "running settled",
    ]);
  });

  test("a session of one kind is not opened as another, and one that was archived takes nothing more", async () => {
    await using home = await openHome(open);
    const { store } = home;
    await store.work.add(work("left", home.task), 50);
    await runningTurn(store);

    await expect(store.sessions.open(`${main}:task:12`, "family")).rejects.toMatchObject({ code: "conflict" });
    await store.sessions.archive(home.task, 70);

    expect(await store.sessions.find(`${main}:task:12`)).toMatchObject({
      kind: "task",
      parent: home.main,
      archivedAt: 70,
    });
    expect(await store.work.get("left")).toMatchObject({ state: "dropped", reason: "its session was archived" });
    await expect(store.work.add(work("new", home.task), 80)).rejects.toMatchObject({ code: "conflict" });
    await expect(store.sessions.open(`${main}:task:12`, "family", { kind: "task" })).rejects.toMatchObject({
      code: "conflict",
    });
    const { session: busy } = (await store.turns.get("t")) ?? { session: "" };
    await expect(store.sessions.archive(busy, 80)).rejects.toThrow("turn t runs in it");
    await expect(store.sessions.archive("nothing", 80)).rejects.toMatchObject({ code: "not_found" });
    expect(await store.sessions.find("main:terminal:nothing")).toBeUndefined();
  });

  test("an ephemeral session is archived when nothing is left to be done in it, and later work begins a new conversation", async () => {
    await using home = await openHome(open);
    const { store } = home;
    const side = { group: { name: "family", channel: "terminal", chat: "chat" }, kind: "task", id: "7" } as const;
    const { group: _group, session: _session, ...first } = work("first", "", { dedupe: "task:7:1" });
    const given = await store.work.addAside(first, { ...side, ephemeral: true }, 50);
    const { session } = given;
    const report = await store.work.addAside({ ...first, id: "again" }, { ...side, ephemeral: true }, 60);
    const unsettled = await store.sessions.archiveSettled(70);
    await take(store, "t", session, given.seq);
    unsettled.push(...(await store.sessions.archiveSettled(80, session)));
    await expect(store.sessions.renew(session)).rejects.toMatchObject({ code: "conflict" });
    await store.turns.finish("t", { state: "done", at: 90, steps: [], outgoing: [] });

    const restarted = await home.restart();
    const archived = await restarted.sessions.archiveSettled(100);

    expect(report).toEqual({ ...given, duplicate: true });
    expect(unsettled).toEqual([]);
    expect(archived).toMatchObject([{ id: session, archivedAt: 100, ephemeral: true, generation: 1, conversation: 1 }]);
    expect(await restarted.sessions.archiveSettled(110)).toEqual([]);
    const next = await restarted.work.addAside(
      { ...first, id: "next", dedupe: "task:7:2" },
      { ...side, ephemeral: true },
      120,
    );
    expect(next).toMatchObject({ session, duplicate: false });
    const revived = await restarted.sessions.find(`${main}:task:7`);
    expect(revived).toMatchObject({ archivedAt: undefined, conversation: 2, generation: 2 });
    await restarted.work.drop("next", "no need");
    await restarted.sessions.archiveSettled(130, session);
    await restarted.work.add(work("result", session, { cause: "agent" }), 140);
    expect(await restarted.sessions.find(`${main}:task:7`)).toMatchObject({ archivedAt: undefined, conversation: 3 });
    // The session for task 12 is not ephemeral.
    expect(await restarted.sessions.find(`${main}:task:12`)).toMatchObject({ archivedAt: undefined });
  });

  test("an ephemeral session stays while one that works for it is there", async () => {
    await using home = await openHome(open);
    const { store } = home;
    const group = { name: "family", channel: "terminal", chat: "chat" };
    const parent = await store.sessions.open(`${main}:task:8`, "family", { kind: "task", ephemeral: true });
    const { group: _group, session: _session, ...part } = work("part", "");
    await store.work.addAside(part, { group, kind: "agent", id: "a1", parent: parent.id, ephemeral: true }, 50);

    const before = await store.sessions.archiveSettled(60);
    await store.work.drop("part", "no need");

    expect(before).toEqual([]);
    expect((await store.sessions.archiveSettled(70)).map(({ kind }) => kind)).toEqual(["agent"]);
    expect((await store.sessions.archiveSettled(70)).map(({ kind }) => kind)).toEqual(["task"]);
  });

  test("a session beside the main one begins a new conversation when it is told to", async () => {
    await using home = await openHome(open);

    await home.store.sessions.renew(home.task);

    expect(await home.store.sessions.find(`${main}:task:12`)).toMatchObject({ conversation: 2, generation: 1 });
    await expect(home.store.sessions.renew("nothing")).rejects.toMatchObject({ code: "not_found" });
  });

  test("a name that is taken for a while names the newer work afterwards, and the id of what has it is told", async () => {
    await using home = await openHome(open);
    const { store } = home;
    const call = (id: string, at: number) =>
      store.work.add(work(id, home.main, { dedupe: "hook-body:1" }), at, { uniqueForMs: 100 });

    const added = [await call("a", 1_000), await call("b", 1_099), await call("c", 1_100), await call("d", 1_199)];
    const forEver = await store.work.add(work("e", home.main, { dedupe: "hook-body:1" }), 9_000);

    expect(added.map(({ id, duplicate }) => `${id} ${String(duplicate)}`)).toEqual([
      "a false",
      "a true",
      "c false",
      "c true",
    ]);
    expect(forEver).toMatchObject({ id: "c", duplicate: true });
    expect([await store.work.isKnown("hook-body:1"), await store.work.isKnown("hook-body:2")]).toEqual([true, false]);
    expect((await store.work.list({ limit: 9 })).map(({ id, dedupe }) => [id, dedupe])).toEqual([
      ["c", "hook-body:1"],
      ["a", undefined],
    ]);
  });

  test("what a program sent and the role of its turn are kept; what waits of one cause is counted", async () => {
    await using home = await openHome(open);
    const { store } = home;
    await store.work.add(
      work("call", home.main, {
        cause: "webhook",
        origin: "web",
        lineage: lineageOf("guest", "http:eve"),
        payload: "<b>",
      }),
      50,
    );
    await store.work.add(work("taken", home.main, { cause: "webhook" }), 50);
    await store.work.add(work("other", home.main), 50);
    await take(store, "t", home.main, 2);

    expect(await store.work.get("call")).toMatchObject({
      lineage: lineageOf("guest", "http:eve"),
      payload: "<b>",
    });
    expect(await store.work.get("other")).toMatchObject({ lineage: ofMember, payload: undefined });
    expect(await store.work.dueCount("family", "webhook")).toBe(1);
    expect(await store.work.dueCount("family", "heartbeat")).toBe(0);
    expect(await store.work.dueCount("work", "webhook")).toBe(0);
  });
}
