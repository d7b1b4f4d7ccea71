import { join } from "node:path";

import { array, assert, asyncProperty, boolean, constantFrom, integer, tuple } from "fast-check";
import pino from "pino";
import { expect, test } from "vitest";

import type { Task } from "../../../../src/domain/work/task.ts";
import type { HostEvent } from "../../../../src/domain/events/event.ts";
import { Scheduler } from "../../../../src/abilities/tasks/scheduler.ts";
import { withOrigins } from "../../../../src/domain/rights/lineage.ts";
import { TaskBook, type TaskMaker, type WantedTask } from "../../../../src/abilities/tasks/task-book.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { openStoreAt } from "../../../support/open-store-at.ts";
import { heapUsedMb } from "../../../support/heap-used.ts";
import { lineageOf, ofMember } from "../../../support/lineages.ts";

const minute = 60_000;
const begin = 1_767_225_600_000;
const ann: TaskMaker = {
  actor: "agent",
  lineage: withOrigins(lineageOf("member", "http:ann"), ["web"]),
};

/** Tasks in a real store, by a clock that the test sets. */
async function openRig() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const store = stack.use(await openStoreAt(join(folder.path, "store")));
  const time = { now: begin, ran: 0 };
  const clock = { now: () => time.now, monotonic: () => time.ran };
  let turns = 0;
  const told: string[] = [];
  const events: Pick<HostEvent, "type" | "data">[] = [];
  const gone = new Set<string>();
  const publish = async (event: Pick<HostEvent, "type" | "data">): Promise<void> => void events.push(event);
  const newScheduler = () =>
    new Scheduler({
      tasks: store.tasks,
      groupNow: (group) => (gone.has(group.name) ? undefined : group),
      workAdded: () => undefined,
      deliver: () => undefined,
      wordsFor: () => undefined,
      tellOperator: (text) => told.push(text),
      publish,
      clock,
      logger: pino({ level: "silent" }),
    });
  const book = new TaskBook({
    tasks: store.tasks,
    timeZone: () => "UTC",
    zoneFault: (zone) => (zone === "UTC" ? undefined : `there is no time zone "${zone}"`),
    changed: () => undefined,
    workAdded: () => undefined,
    publish,
    clock,
  });
  const owned = stack.move();
  const rig = {
    store,
    book,
    told,
    events,
    gone,
    make: (wanted: Partial<WantedTask>, by = ann, name = "family"): Promise<Task> =>
      book.make({ name, channel: "http", chat: name }, { prompt: "look", ...wanted }, by),
    /**
     * The host looks for what is due at this moment; `ran`: for so long since the last one, if the clock says
     * otherwise.
     */
    at: async (now: number, ran = now - time.now) => {
      time.ran += ran;
      time.now = now;
      scheduler.changed();
      scheduler.runEnded();
      await scheduler.idle();
      await scheduler[Symbol.asyncDispose]();
      scheduler = newScheduler();
      return store.work.list({ limit: 20_000 });
    },
    /** The machine is started anew: the clock that only runs forward begins again. */
    reboot: () => {
      time.ran = 0;
    },
    /** A turn takes the oldest due work, and ends like this. */
    turn: async (state: "done" | "failed" | "cancelled") => {
      const [due] = (await store.work.list({ state: "due", limit: 9 })).toSorted((a, b) => a.seq - b.seq);
      if (!due) throw new Error("nothing is due");
      turns += 1;
      const id = `turn-${turns}`;
      const session = (await store.sessions.list()).find((one) => one.id === due.session);
      await store.turns.begin(
        {
          id,
          session: due.session,
          group: due.group,
          conversation: session?.conversation ?? 1,
          cause: "schedule",
          replyTo: due.replyTo,
          at: time.now,
        },
        {
          body: { kind: "user", text: due.text },
          tokens: 1,
          at: time.now,
          takesWork: { seq: due.seq, lineage: ofMember },
        },
      );
      await store.turns.finish(id, { state, reason: "no luck", at: time.now, steps: [], outgoing: [] });
      await store.sessions.archiveSettled(time.now);
      return due;
    },
    notices: async () => (await store.outbox.list({ limit: 50 })).map(({ text }) => text),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  let scheduler = newScheduler();
  owned.defer(() => scheduler[Symbol.asyncDispose]());
  return rig;
}

test("a due time is claimed once, with the rights of its maker, and goes to its own session", async () => {
  await using rig = await openRig();
  const task = await rig.make({ every: "1m" });

  await rig.at(begin + minute);
  const work = await rig.at(begin + minute + 500);

  expect(work).toMatchObject([
    {
      id: `task:${task.id}:${begin + minute}`,
      dedupe: `task:${task.id}:${begin + minute}`,
      cause: "schedule",
      text: "look",
    },
  ]);
  expect(work[0]).toMatchObject({ origin: "member", lineage: ann.lineage });
  expect(await rig.store.sessions.find(`main:http:family:task:${task.id}`)).toMatchObject({
    kind: "task",
    ephemeral: true,
  });
  expect(await rig.store.tasks.get(task.id)).toMatchObject({ next: begin + 2 * minute, lastRun: { state: "running" } });
  await rig.turn("done");
  await rig.at(begin + minute + 900);
  expect(await rig.store.tasks.get(task.id)).toMatchObject({ lastRun: { state: "done" }, failures: 0 });
});

test("a run that has not ended is not begun again: the next due time is skipped", async () => {
  await using rig = await openRig();
  const task = await rig.make({ every: "1m" });

  await rig.at(begin + minute);
  const work = await rig.at(begin + 2 * minute);

  expect(work).toHaveLength(1);
  expect((await rig.store.tasks.runs(task.id, 9)).map(({ state }) => state)).toEqual(["skipped", "running"]);
  await expect(rig.book.run(task.id, ann)).rejects.toMatchObject({ code: "conflict" });
});

test("a run that fails is tried again, ever later; the group is told after two, and after ten the task is paused", async () => {
  await using rig = await openRig();
  const task = await rig.make({ every: "1d", name: "report" });
  let now = begin + 1_440 * minute;
  const delays: number[] = [];
  await rig.at(now);

  for (let failure = 1; failure <= 10; failure += 1) {
    await rig.turn("failed");
    const work = await rig.at(now);
    const dueAt = work.find(({ state }) => state === "due")?.dueAt;
    if (dueAt === undefined) break;
    delays.push((dueAt - now) / 1_000);
    now = dueAt;
    await rig.at(now);
  }

  expect(delays).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  expect(await rig.store.tasks.get(task.id)).toMatchObject({
    state: "paused",
    failures: 10,
    lastRun: { state: "failed", attempts: 10 },
  });
  expect((await rig.notices()).toSorted()).toEqual([
    expect.stringMatching(/^I have paused the task "report": it failed 10 times in a row\./),
    'The task "report" has failed 2 times in a row. I keep trying.',
  ]);
});

test("a run that is tried again begins a new conversation, and when it succeeds the failures are forgotten", async () => {
  await using rig = await openRig();
  const task = await rig.make({ at: new Date(begin + minute).toISOString() });
  await rig.at(begin + minute);
  await rig.turn("failed");
  await rig.at(begin + minute);

  expect(await rig.store.tasks.get(task.id)).toMatchObject({ failures: 1, lastRun: { state: "running", attempts: 2 } });
  await rig.turn("done");
  await rig.at(begin + 2 * minute);

  expect(await rig.store.tasks.get(task.id)).toMatchObject({ state: "done", failures: 0, lastRun: { state: "done" } });
  expect(await rig.notices()).toEqual([]);
});

test("a run that people stopped is not tried again", async () => {
  await using rig = await openRig();
  const task = await rig.make({ every: "1h" });
  await rig.at(begin + 60 * minute);
  await rig.turn("cancelled");

  const work = await rig.at(begin + 61 * minute);

  expect(work.map(({ state }) => state)).toEqual(["settled"]);
  expect(await rig.store.tasks.get(task.id)).toMatchObject({ failures: 0, lastRun: { state: "cancelled" } });
});

test("a clock that is set back runs no due time twice, and does not wait until it is where it was", async () => {
  await using rig = await openRig();
  const task = await rig.make({ every: "1m" });
  await rig.at(begin + minute);
  await rig.turn("done");
  // Forward by a day, with nothing lost but the runs of that day, and back again.
  await rig.at(begin + 1_441 * minute, 1_000);

  await rig.at(begin + minute + 5_000, 1_000);
  expect(await rig.store.tasks.get(task.id)).toMatchObject({ next: begin + 2 * minute });
  await rig.turn("done");
  await rig.at(begin + minute + 10_000);
  await rig.at(begin + 2 * minute);

  const runs = await rig.store.tasks.runs(task.id, 99);
  expect(runs.filter(({ due }) => due === begin + minute)).toHaveLength(1);
  expect(runs.filter(({ due, state }) => due === begin + 2 * minute && state === "running")).toHaveLength(1);
});

test("a clock that is set back or forward while the host is down costs no due time after, and runs none twice", async () => {
  const jump = tuple(integer({ min: -4_000, max: 4_000 }), boolean());
  const timing = constantFrom<Partial<WantedTask>>({ every: "7m" }, { cron: "*/7 * * * *" });
  const rule = constantFrom("skip" as const, "latest" as const);
  await assert(
    asyncProperty(array(jump, { minLength: 1, maxLength: 4 }), timing, rule, async (jumps, when, missed) => {
      await using rig = await openRig();
      const { id } = await rig.make({ ...when, missed });
      let now = begin + 10_000 * minute;
      await rig.at(now, 10_000 * minute);
      for (const [minutes, isRestarted] of jumps) {
        if (isRestarted) rig.reboot();
        now += minutes * minute;
        await rig.at(now, 1_000);
        while ((await rig.store.work.list({ state: "due", limit: 1 })).length > 0) await rig.turn("done");
        // Time goes on as it should: what is due next is due soon.
        now += minute;
        await rig.at(now);
        const next = (await rig.store.tasks.get(id))?.next ?? Number.NaN;
        expect(next).toBeGreaterThan(now);
        const runs = await rig.store.tasks.runs(id, 200);
        const known = new Set(runs.map(({ due }) => due));
        // Due times that were claimed before the clock was set back are not run again.
        let soonest = next;
        while (known.has(soonest - 7 * minute) && soonest > now) soonest -= 7 * minute;
        // No task is due before it was made, wherever the clock is.
        expect(soonest - Math.max(now, begin)).toBeLessThanOrEqual(7 * minute);
      }
      const work = (await rig.store.work.list({ limit: 1_000 })).map(({ dedupe }) => dedupe);
      expect(new Set(work).size).toBe(work.length);
    }),
    { numRuns: 12 },
  );
});

test("a task whose group no longer exists is paused, and the operator is told", async () => {
  await using rig = await openRig();
  const task = await rig.make({ every: "1m" });
  rig.gone.add("family");

  expect(await rig.at(begin + minute)).toEqual([]);

  expect(await rig.store.tasks.get(task.id)).toMatchObject({
    state: "paused",
    reason: "its group is missing anymore",
  });
  expect(rig.told).toEqual([expect.stringContaining(`The task ${task.id} ("look") of family is paused`)]);
});

test("a group has at most 50 tasks; removing one gives up what it waits to do", async () => {
  await using rig = await openRig();
  const [first] = await Promise.all(Array.from({ length: 50 }, () => rig.make({ every: "1h" })));

  await expect(rig.make({ every: "1h" })).rejects.toMatchObject({ code: "conflict" });
  await rig.at(begin + 60 * minute);
  await rig.book.remove(first?.id ?? "", ann);

  expect(await rig.store.work.get(`task:${first?.id}:${begin + 60 * minute}`)).toMatchObject({ state: "dropped" });
  await rig.make({ every: "1h" });
});

test("what somebody with more rights has made is not changed by somebody with fewer", async () => {
  await using rig = await openRig();
  const owner: TaskMaker = { ...ann, lineage: lineageOf("owner") };
  const { id } = await rig.make({ every: "1h" }, owner);

  for (const attempt of [
    rig.book.change(id, { prompt: "something else" }, ann),
    rig.book.change(id, { prompt: "something else" }, { ...ann, lineage: lineageOf("admin") }),
    rig.book.remove(id, ann),
    rig.book.run(id, ann),
  ])
    await expect(attempt).rejects.toMatchObject({ code: "conflict" });
  expect(await rig.book.pause(id, { ...ann, lineage: lineageOf("admin") })).toMatchObject({
    state: "paused",
    prompt: "look",
  });
});

test("2,000 tasks of 100 groups that are due in one minute are claimed once each", async () => {
  await using rig = await openRig();
  const groups = Array.from({ length: 100 }, (_, index) => `group-${index}`);
  const modes = Array.from({ length: 20 }, (_, made) => (made % 2 ? "group" : "isolated"));
  for (const name of groups) {
    // Written together: one after the other, each is a transaction on disk.
    await Promise.all(modes.map((mode) => rig.make({ every: "1m", mode }, ann, name)));
  }
  const before = heapUsedMb();

  const work = await rig.at(begin + minute);

  expect(work).toHaveLength(2_000);
  expect(new Set(work.map(({ dedupe }) => dedupe)).size).toBe(2_000);
  expect(rig.events.filter(({ type }) => type === "schedule.missed")).toEqual([]);
  expect(heapUsedMb() - before).toBeLessThan(40);
});
