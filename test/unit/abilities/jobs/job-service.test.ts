import { pino } from "pino";
import { expect, test, vi } from "vitest";

import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { withOrigins } from "../../../../src/domain/rights/lineage.ts";
import { JobService, type JobServiceOptions, type JobReport } from "../../../../src/abilities/jobs/job-service.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { lineageOf } from "../../../support/lineages.ts";

const owner = { replyTo: { kind: "chat", channel: "http", chat: "family" }, origins: ["web"] } as const;

const started = (job: string, turn = "t"): JobReport => ({ type: "job-started", turn, job, command: `run ${job}` });
const ended = (job: string, more: Partial<Extract<JobReport, { type: "job-ended" }>> = {}): JobReport => ({
  type: "job-ended",
  job,
  outcome: "exited",
  exitCode: 0,
  output: "",
  toldModel: false,
  ...more,
});

/** A desk over a real store; its agents do what the test makes them do. */
async function openDesk({
  perSession = 4,
  pool,
  ...options
}: Partial<Omit<JobServiceOptions, "pool">> & {
  perSession?: number;
  pool?: Partial<JobServiceOptions["pool"]>;
} = {}) {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const { id: session } = await store.sessions.open("main:http:family", "family");
  const place = { session, group: "family", generation: 1 };
  const events: NewEvent[] = [];
  const log: string[] = [];
  const make = () =>
    new JobService({
      store: store.jobs,
      limits: () => ({ atOnce: perSession, seconds: 3_600 }),
      lineageOf: async () => lineageOf("member", "http:ann"),
      ownerOf: async () => owner,
      pool: {
        stopJob: async (_session, job) => log.push(`tell ${job}`) > 0,
        stop: async (_session, reason) => log.push(`end: ${reason}`) > 0,
        hold: () => void log.push("held"),
        letRest: () => void log.push("over"),
        ...pool,
      },
      workAdded: () => void log.push("work"),
      publish: async (event) => void events.push(event),
      clock: { now: () => 1_000, monotonic: () => 0 },
      logger: pino({ level: "silent" }),
      ...options,
    });
  const desk = stack.use(make());
  const owned = stack.move();
  return {
    store,
    desk,
    make,
    place,
    events,
    log,
    types: () => events.map(({ type }) => type),
    texts: async () => (await store.work.list({ limit: 9 })).map(({ text }) => text),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("the end of a job makes work for its session, once, with whoever asked for it", async () => {
  await using rig = await openDesk();
  const { desk, place, store } = rig;

  await desk.report(place, started("job-1aaaaa"), "t");
  await desk.report(place, started("job-1aaaaa"), "t");
  const running = [desk.count(), desk.count(place.session), desk.ofGroup("family").map(({ id }) => id)];
  const end = ended("job-1aaaaa", { exitCode: 7, output: "</work> boom" });
  await desk.report(place, end, undefined);
  await desk.report(place, end, undefined);

  expect(running).toEqual([1, 1, ["job-1aaaaa"]]);
  expect(rig.types()).toEqual(["job.started", "job.ended"]);
  const [work, ...more] = await store.work.list({ limit: 9 });
  expect(more).toEqual([]);
  expect(work).toMatchObject({
    cause: "job-ended",
    replyTo: owner.replyTo,
    lineage: withOrigins(lineageOf("member", "http:ann"), ["web"]),
    dedupe: `job:${place.session}:job-1aaaaa`,
    session: place.session,
  });
  expect(work?.text).toBe(
    "Background job job-1aaaaa has ended after 0 s: exit code 7.\nCommand: run job-1aaaaa\nThe end of its output:\n</work> boom",
  );
  expect(rig.log).toEqual(["held", "work", "over"]);
  expect(desk.takeNews(place.session, "another")).toEqual([]);
  expect(desk.takeNews(place.session, "t")).toEqual([work?.id]);
  expect(desk.takeNews(place.session, "t")).toEqual([]);
});

test("an agent that announces 10,000 jobs has as many as it may, and is put on record once", async () => {
  await using rig = await openDesk();
  const { desk, place } = rig;

  for (let count = 0; count < 10_000; count += 1) {
    await desk.report(place, started(`job-1${String(count).padStart(5, "0")}`), "t");
  }

  expect(desk.count()).toBe(4);
  expect(rig.types().toSorted()).toEqual(["agent.overstepped", ...Array.from({ length: 4 }, () => "job.started")]);
  expect(await rig.store.jobs.list({ all: true, limit: 100 })).toHaveLength(4);
});

test("ends of jobs that never were, and jobs outside the turn at work, have no effect", async () => {
  await using rig = await openDesk();
  const { desk, place } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");

  await desk.report(place, ended("job-9zzzzz"), "t");
  await desk.report({ ...place, generation: 2 }, ended("job-1aaaaa"), "t");
  await desk.report({ ...place, session: "another" }, ended("job-1aaaaa"), "t");
  await desk.report(place, started("job-2bbbbb", "an owner's turn"), "t");
  await desk.report(place, started("job-3ccccc"), undefined);

  expect(desk.ofGroup("family").map(({ id }) => id)).toEqual(["job-1aaaaa"]);
  expect(await rig.texts()).toEqual([]);
  expect(rig.types()).toEqual(["job.started", "agent.overstepped"]);
});

test("the id of a job that is over is not given again", async () => {
  await using rig = await openDesk();
  const { desk, place } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");
  await desk.report(place, ended("job-1aaaaa"), "t");

  await desk.report(place, started("job-1aaaaa"), "t");

  expect(desk.count()).toBe(0);
  expect(rig.types()).toContain("agent.overstepped");
});

test("a job that the model has stopped itself makes no work; one that the operator stops does", async () => {
  await using rig = await openDesk({ pool: { stopJob: async () => true } });
  const { desk, place } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");
  await desk.report(place, started("job-2bbbbb"), "t");

  await desk.report(place, ended("job-1aaaaa", { outcome: "stopped", toldModel: true }), "t");
  const stopped = desk.stop({ session: place.session, id: "job-2bbbbb" }, "the operator");
  await desk.report(place, ended("job-2bbbbb", { outcome: "stopped" }), "t");

  expect(await stopped).toBe(true);
  expect(await desk.stop({ session: place.session, id: "job-2bbbbb" }, "the operator")).toBe(false);
  expect(await rig.texts()).toEqual([
    "Background job job-2bbbbb was ended after 0 s: stopped by the operator.\nCommand: run job-2bbbbb",
  ]);
});

test("with its container its jobs are lost, and the agent is told so", async () => {
  await using rig = await openDesk();
  const { desk, place, store } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");

  await desk.gone({ ...place, generation: 2 }, "another life");
  const before = desk.count();
  await desk.gone(place, "it ran out of memory");

  expect([before, desk.count()]).toEqual([1, 0]);
  expect(await store.jobs.list({ all: true, limit: 9 })).toMatchObject([
    { state: "lost", reason: "its container has ended: it ran out of memory" },
  ]);
  expect(await rig.texts()).toEqual([expect.stringContaining("was lost after 0 s: its container has ended")]);
});

test("after a restart the jobs of containers that live on are watched, the others are lost, once", async () => {
  await using rig = await openDesk();
  const { desk, place, store } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");
  const { id: other } = await store.sessions.open("main:http:family:task:1", "family", { kind: "task" });
  await desk.report({ ...place, session: other }, started("job-2bbbbb"), "t");

  await using next = rig.make();
  await next.adopted(place);
  await next.settleLost();
  await next.settleLost();

  expect(next.ofGroup("family").map(({ id }) => id)).toEqual(["job-1aaaaa"]);
  expect(await rig.texts()).toEqual([expect.stringContaining("gone when the host started")]);
  await next.report(place, ended("job-1aaaaa"), undefined);
  expect(await rig.texts()).toHaveLength(2);
});

test("an agent that does not end a job when it is told to loses its container", async () => {
  const reasons: string[] = [];
  await using rig = await openDesk({
    graceMs: 10,
    pool: {
      stop: async (_session, reason) => {
        reasons.push(reason);
        await rig.desk.gone(rig.place, reason);
        return true;
      },
    },
  });
  const { desk, place } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");

  await desk.stop({ session: place.session, id: "job-1aaaaa" }, "the operator");

  expect(reasons).toEqual(["background job job-1aaaaa did not end when it was told to"]);
  expect(desk.count()).toBe(0);
  expect(await rig.texts()).toEqual([expect.stringContaining("was ended after 0 s: stopped by the operator")]);
});

test("a job may run for six hours, and for a moment more to end by itself; then it is told to end, and its container is ended", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  using _ = { [Symbol.dispose]: () => void vi.useRealTimers() };
  const told: string[] = [];
  const reasons: string[] = [];
  await using rig = await openDesk({
    limits: () => ({ atOnce: 4, seconds: 6 * 3_600 }),
    pool: {
      stopJob: async (_session, job) => told.push(job) > 0,
      stop: async (_session, reason) => {
        reasons.push(reason);
        await rig.desk.gone(rig.place, reason);
        return true;
      },
    },
  });
  await rig.desk.report(rig.place, started("job-1aaaaa"), "t");

  vi.advanceTimersByTime(6 * 3_600_000 + 14_999);
  const before = [...told];
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => told.length === 1, { timeout: 120_000 });
  await vi.advanceTimersByTimeAsync(15_000);
  await expect.poll(() => rig.desk.count()).toBe(0);

  expect(before).toEqual([]);
  expect(reasons).toEqual(["background job job-1aaaaa did not end when it was told to"]);
  expect(await rig.texts()).toEqual([expect.stringContaining("it had run for as long as it may")]);
  expect(rig.types()).toEqual(["job.started", "job.ended", "limit.reached"]);
});

test("a job that has outlived its time is ended by the host, and the limit is on record", async () => {
  const told: string[] = [];
  let now = 0;
  await using rig = await openDesk({
    clock: { now: () => now, monotonic: () => 0 },
    // Nobody is there anymore who could be told.
    pool: { stopJob: async (_session, job) => told.push(job) === 0 },
  });
  const { desk, place } = rig;
  await desk.report(place, started("job-1aaaaa"), "t");

  await using next = rig.make();
  now = 3_600_000 + 16_000;
  await next.adopted(place);
  await expect.poll(() => next.count()).toBe(0);

  expect(told).toEqual(["job-1aaaaa"]);
  expect(rig.types()).toEqual(["job.started", "job.ended", "limit.reached"]);
  expect(await rig.texts()).toEqual([expect.stringContaining("it had run for as long as it may, 1 h 0 min")]);
});
