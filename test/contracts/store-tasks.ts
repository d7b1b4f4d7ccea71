import { expect, test } from "vitest";

import { withOrigins } from "../../src/domain/rights/lineage.ts";
import type { NewTask, Task } from "../../src/domain/work/task.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import type { EndedRun, NewRun, RunSettlement } from "../../src/stores/contract/task-store.ts";
import { draft, inChat, type OpenStore, restartableStore, step } from "./store-setup.ts";
import { lineageOf, ofMember } from "../support/lineages.ts";

const minute = 60_000;

function newTask(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    group: inChat("family"),
    name: `name of ${id}`,
    prompt: `do ${id}`,
    timing: { kind: "every", everyMs: minute, since: 0 },
    timezone: "Europe/Berlin",
    mode: "isolated",
    missed: "skip",
    origin: "member",
    lineage: withOrigins(lineageOf("member", "terminal:ann"), ["web"]),
    next: minute,
    createdAt: 10,
    ...more,
  };
}

function runOf({ id, prompt: text }: Task, due: number): NewRun {
  const name = `task:${id}:${due}`;
  const replyTo = { kind: "chat", channel: "terminal", chat: "chat" } as const;
  return {
    due,
    work: { id: name, dedupe: name, cause: "schedule", dueAt: due, replyTo, origin: "member", lineage: ofMember, text },
  };
}

function isDefined<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("it is missing");
  return value;
}

/** A task, stored, as it comes back. */
async function stored(store: Store, id: string, more: Partial<NewTask> = {}): Promise<Task> {
  await store.tasks.add(newTask(id, more), 50);
  return isDefined(await store.tasks.get(id));
}

function ids(found: readonly Task[]): string[] {
  return found.map(({ id }) => id);
}

/** Claims the due times of a task, of which the last one is followed by one a minute later. */
async function claim(store: Store, task: Task, dues: readonly number[], open = 1): Promise<number> {
  const runs = dues.map((due) => runOf(task, due));
  return store.tasks.claim([{ task, runs, open, next: (dues.at(-1) ?? 0) + minute }], 100);
}

/** A turn takes the work of this run and ends; how the store tells of it. */
async function end(store: Store, task: Task, due: number, state: "done" | "failed" = "done"): Promise<EndedRun> {
  const work = isDefined(await store.work.get(`task:${task.id}:${due}`));
  const turn = `turn of ${task.id} at ${due}, ${state}`;
  const begins = { id: turn, session: work.session, group: "family", conversation: 1, replyTo: work.replyTo, at: 200 };
  await store.turns.begin(
    { ...begins, cause: "schedule" },
    { ...step("do it"), takesWork: { seq: work.seq, lineage: ofMember } },
  );
  await store.turns.finish(turn, { state, reason: "no luck", at: 300, steps: [], outgoing: [] });
  return isDefined((await store.tasks.ended(9)).find((run) => run.task.id === task.id));
}

const done: RunSettlement = { state: "done", at: 400, failures: 0, outgoing: [] };

/** Tasks and their due times: each claimed once, with its work, and settled once, with what follows. */
export function testTasks(open: OpenStore): void {
  test("a task of every kind comes back as it was stored, also after a restart", async () => {
    await using home = await restartableStore(open);
    const tasks = [
      newTask("t1"),
      newTask("t2", { timing: { kind: "at", at: 5 * minute }, next: 5 * minute, lineage: ofMember, createdAt: 20 }),
      newTask("t3", { timing: { kind: "cron", cron: "0 9 * * 1-5" }, mode: "group", missed: "all", createdAt: 30 }),
    ];
    for (const task of tasks) expect(await home.store.tasks.add(task, 50)).toBe(true);

    const store = await home.restart();

    const fresh = { state: "active", reason: undefined, failures: 0, lastRun: undefined };
    expect(await store.tasks.list({})).toEqual(tasks.map((task) => ({ ...task, ...fresh })));
    expect(await store.tasks.get("t9")).toBeUndefined();
    expect(await store.tasks.idsBeginningWith("t", 2)).toEqual(["t1", "t2"]);
    expect(await store.tasks.counts()).toEqual({ active: 3, paused: 0 });
  });

  test("a group has as many as the limit says; those that are done do not count, and others have their own limit", async () => {
    await using home = await restartableStore(open);
    const { tasks } = home.store;
    await tasks.add(newTask("t1"), 2);
    await tasks.add(newTask("t2"), 2);

    expect(await tasks.add(newTask("t3"), 2)).toBe(false);
    expect(await tasks.add(newTask("t4", { group: inChat("work") }), 2)).toBe(true);
    await tasks.setState("t1", { state: "done", next: undefined });
    expect(await tasks.add(newTask("t5"), 2)).toBe(true);

    expect((await tasks.list({ group: "family" })).map(({ id }) => id)).toEqual(["t1", "t2", "t5"]);
  });

  test("those that are active and due are found, the one that has been for longest first", async () => {
    await using home = await restartableStore(open);
    const { tasks } = home.store;
    await tasks.add(newTask("late", { next: 300 }), 9);
    await tasks.add(newTask("first", { next: 100 }), 9);
    await tasks.add(newTask("paused", { next: 50 }), 9);
    await tasks.add(newTask("second", { next: 200 }), 9);
    await tasks.setState("paused", { state: "paused", reason: "enough", next: 50 });

    expect(await tasks.nextDueAt()).toBe(100);
    expect(ids(await tasks.due(200, 9))).toEqual(["first", "second"]);
    expect(ids(await tasks.due(300, 1))).toEqual(["first"]);
    expect(ids(await tasks.dueAfter(200))).toEqual(["late"]);
    expect(await tasks.counts()).toEqual({ active: 3, paused: 1 });
  });

  test("a due time is claimed once, with its work in its own session; a task that was changed meanwhile is left alone", async () => {
    await using home = await restartableStore(open);
    const task = await stored(home.store, "t1");

    const begun = [await claim(home.store, task, [minute]), await claim(home.store, task, [minute])];
    const { tasks, work, sessions } = await home.restart();
    const twice = await tasks.claim(
      [{ task: isDefined(await tasks.get("t1")), runs: [runOf(task, minute)], open: 9, next: 3 * minute }],
      100,
    );

    expect([...begun, twice]).toEqual([1, 0, 0]);
    expect((await work.list({ limit: 9 })).map(({ id, state }) => [id, state])).toEqual([[`task:t1:${minute}`, "due"]]);
    expect((await sessions.list()).map(({ kind, ephemeral }) => [kind, ephemeral])).toContainEqual(["task", true]);
    expect(await tasks.get("t1")).toMatchObject({ next: 3 * minute, lastRun: { due: minute, state: "running" } });
    expect([await tasks.isClaimed("t1", minute), await tasks.isClaimed("t1", 2 * minute)]).toEqual([true, false]);
    expect(await tasks.lastClaimedAt()).toBe(100);
  });

  test("due times beyond those that may be unfinished are skipped, those that passed by are noted, and the last one ends the task", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const task = await stored(store, "t1", { mode: "group" });

    const runs = [2, 3, 4].map((count) => runOf(task, count * minute));
    const missed = { due: minute, reason: "the host was away" };
    const begun = await store.tasks.claim([{ task, runs, open: 2, missed, next: undefined }], 100);

    expect(begun).toBe(2);
    expect((await store.tasks.runs("t1", 9)).map(({ due, state }) => [due / minute, state])).toEqual([
      [4, "skipped"],
      [3, "running"],
      [2, "running"],
      [1, "missed"],
    ]);
    expect(await store.tasks.get("t1")).toMatchObject({ state: "done", next: undefined });
    expect(await store.tasks.nextDueAt()).toBeUndefined();
  });

  test("a task runs now only while no run of it is unfinished", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const task = await stored(store, "t1");

    expect(await store.tasks.runNow(task, runOf(task, 70), 70)).toBe(true);
    expect(await store.tasks.runNow(task, runOf(task, 80), 80)).toBe(false);
    await store.tasks.settle(await end(store, task, 70), done);
    expect(await store.tasks.runNow(task, runOf(task, 90), 90)).toBe(true);
    expect(await store.tasks.get("t1")).toMatchObject({ next: minute, lastRun: { due: 90 } });
  });

  test("a run that has ended is settled once, with what the group is told", async () => {
    await using home = await restartableStore(open);
    const task = await stored(home.store, "t1");
    await claim(home.store, task, [minute]);
    expect(await home.store.tasks.ended(9)).toEqual([]);
    await end(home.store, task, minute);
    const store = await home.restart();
    const run = isDefined((await store.tasks.ended(9))[0]);

    const settled = [
      await store.tasks.settle(run, { ...done, outgoing: [draft("it is done")] }),
      await store.tasks.settle(run, { ...done, outgoing: [draft("it is done")] }),
    ];

    expect(run).toMatchObject({ due: minute, attempts: 1, turn: { state: "done" } });
    expect(settled).toEqual([true, false]);
    expect((await store.outbox.list({ limit: 9 })).map(({ text }) => text)).toEqual(["it is done"]);
    expect(await store.tasks.ended(9)).toEqual([]);
    expect((await store.tasks.get("t1"))?.lastRun).toMatchObject({ state: "done", endedAt: 400, turn: run.turn?.id });
  });

  test("a run that is tried again is due once more, and the end of the attempt before does not settle it", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const task = await stored(store, "t1");
    await claim(store, task, [minute]);
    const first = await end(store, task, minute, "failed");
    const again = { ...done, state: "failed", retryAt: 5 * minute, failures: 1 } as const;

    expect(await store.tasks.settle(first, again)).toBe(true);
    expect(await store.tasks.settle(first, again)).toBe(false);

    expect(await store.work.get(`task:t1:${minute}`)).toMatchObject({ state: "due", dueAt: 5 * minute });
    expect(await store.tasks.get("t1")).toMatchObject({ failures: 1, lastRun: { state: "running", attempts: 2 } });
    await store.tasks.settle(await end(store, task, minute), done);
    expect(await store.tasks.get("t1")).toMatchObject({ failures: 0, lastRun: { state: "done", attempts: 2 } });
  });

  test("pausing gives up what waits, by hand or by a settlement; going on forgets the failures", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const task = await stored(store, "t1");
    await claim(store, task, [minute]);
    const failed = { ...done, state: "failed", failures: 10, pause: "it failed" } as const;
    await store.tasks.settle(await end(store, task, minute, "failed"), failed);
    expect(await store.tasks.get("t1")).toMatchObject({ state: "paused", reason: "it failed", failures: 10 });

    await store.tasks.setState("t1", { state: "active", next: 3 * minute });
    const resumed = isDefined(await store.tasks.get("t1"));
    await claim(store, resumed, [3 * minute]);
    await store.tasks.setState("t1", { state: "paused", reason: "enough", next: 4 * minute });

    expect(resumed).toMatchObject({ state: "active", failures: 0, reason: undefined });
    expect(await store.work.get(`task:t1:${3 * minute}`)).toMatchObject({ state: "dropped" });
    expect(await store.tasks.ended(9)).toMatchObject([{ due: 3 * minute, turn: undefined }]);
    expect(await store.tasks.setState("t9", { state: "paused", next: undefined })).toBe(false);
  });

  test("what is changed is changed, and the rest stays; what is removed is gone with its history and what it waits to do", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const task = await stored(store, "t1");

    expect(await store.tasks.change("t1", { prompt: "something else", lineage: lineageOf("guest") })).toBe(true);
    expect(await store.tasks.change("t9", { prompt: "x" })).toBe(false);
    expect(await store.tasks.get("t1")).toEqual({ ...task, prompt: "something else", lineage: lineageOf("guest") });
    const timing = { kind: "cron", cron: "0 9 * * *" } as const;
    await store.tasks.change("t1", { timing, next: 9 * minute });
    const changed = isDefined(await store.tasks.get("t1"));
    expect(changed).toMatchObject({ timing, next: 9 * minute });
    await claim(store, changed, [9 * minute]);

    expect([await store.tasks.remove("t1"), await store.tasks.remove("t1")]).toEqual([true, false]);
    expect(await store.work.get(`task:t1:${9 * minute}`)).toMatchObject({ state: "dropped" });
    expect([await store.tasks.list({}), await store.tasks.runs("t1", 9), await store.tasks.ended(9)]).toEqual([
      [],
      [],
      [],
    ]);
  });
}
