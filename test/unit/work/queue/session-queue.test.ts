import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type QueuedSession, SessionQueue } from "../../../../src/work/queue/session-queue.ts";

/** The one session of a group, for whose answer people wait. */
const only = (group: string): QueuedSession => ({ session: `${group}'s`, group, awaited: true });

/** A queue whose runs end when the test says so; keeps what started, in order, and how many ran at once. */
function controlledQueue(concurrency: number) {
  const started: string[] = [];
  const errors: string[] = [];
  const changes: string[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  let overlaps = 0;
  let mostAtOnce = 0;
  const queue = new SessionQueue({
    concurrency,
    run: async ({ group }) => {
      if (running.has(group)) overlaps += 1;
      const done = Promise.withResolvers<void>();
      running.set(group, done);
      started.push(group);
      mostAtOnce = Math.max(mostAtOnce, running.size);
      await done.promise.finally(() => running.delete(group));
    },
    onError: ({ group }, error) => errors.push(`${group}: ${String(error)}`),
    onChange: ({ group }, activity) => changes.push(`${group} ${activity ?? "idle"}`),
  });
  const isRunning = (group: string): boolean => queue.snapshot().running.some((queued) => queued.group === group);
  const finish = async (group: string): Promise<void> => {
    running.get(group)?.resolve();
    await expect.poll(() => isRunning(group) && !running.has(group)).toBe(false);
  };
  return { queue, started, errors, changes, running, finish, counts: () => ({ overlaps, mostAtOnce }) };
}

test("a group that is woken while it runs is run once more afterwards, not at the same time", async () => {
  const { queue, started, finish, counts } = controlledQueue(4);

  queue.wake(only("family"));
  await expect.poll(() => started).toEqual(["family"]);
  queue.wake(only("family"));
  queue.wake(only("family"));
  await finish("family");
  await expect.poll(() => started).toEqual(["family", "family"]);
  await finish("family");
  await queue.idle();

  expect(started).toEqual(["family", "family"]);
  expect(counts().overlaps).toBe(0);
});

test("with two places the third group waits, and a busy group goes behind it", async () => {
  const { queue, started, finish, counts } = controlledQueue(2);

  for (const group of ["a", "b", "c"]) queue.wake(only(group));
  await expect.poll(() => started).toEqual(["a", "b"]);
  queue.wake(only("a"));
  await finish("a");
  await expect.poll(() => started).toEqual(["a", "b", "c"]);
  await finish("b");
  await expect.poll(() => started).toEqual(["a", "b", "c", "a"]);
  await finish("c");
  await finish("a");
  await queue.idle();

  expect(counts().mostAtOnce).toBe(2);
});

/** Ends a run of `a` in which it was woken so often, then wakes `b`; who started, in order. */
async function startsAfter(wakes: number): Promise<string[]> {
  const { queue, started, running, finish } = controlledQueue(4);
  queue.wake(only("a"));
  await expect.poll(() => running.has("a")).toBe(true);
  for (let wake = 0; wake < wakes; wake += 1) queue.wake(only("a"));
  running.get("a")?.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  queue.wake(only("b"));
  await expect.poll(() => started.length).toBe(3);
  await finish("a");
  await finish("b");
  await queue.idle();
  return started;
}

test("a group that is flooded rests between its runs, so that others come first though there are places", async () => {
  expect(await startsAfter(3)).toEqual(["a", "b", "a"]);
});

test("a quick conversation does not rest", async () => {
  expect(await startsAfter(2)).toEqual(["a", "a", "b"]);
});

test("a queue that is stopped while a group rests does not run it", async () => {
  const { queue, started, running } = controlledQueue(4);

  queue.wake(only("a"));
  await expect.poll(() => running.has("a")).toBe(true);
  for (let wake = 0; wake < 3; wake += 1) queue.wake(only("a"));
  running.get("a")?.resolve();
  // It rests for a moment only, which a look now and then may miss.
  while (queue.snapshot().waiting.length === 0) await new Promise((next) => setImmediate(next));
  await queue.stop(AbortSignal.timeout(10));
  await queue.idle();

  expect(started).toEqual(["a"]);
  expect(queue.snapshot()).toEqual({ waiting: [], running: [] });
});

test("a run that fails is reported and the group can run again", async () => {
  const { queue, started, errors, running, finish } = controlledQueue(1);

  queue.wake(only("a"));
  await expect.poll(() => started).toEqual(["a"]);
  running.get("a")?.reject(new Error("disk on fire"));
  await expect.poll(() => errors).toEqual(["a: Error: disk on fire"]);
  queue.wake(only("a"));
  await expect.poll(() => started).toEqual(["a", "a"]);
  await finish("a");
});

test("after stop nothing new starts, and what runs is aborted at the deadline", async () => {
  const aborted = Promise.withResolvers<unknown>();
  const started: string[] = [];
  const queue = new SessionQueue({
    concurrency: 1,
    run: async ({ group }, signal) => {
      started.push(group);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      aborted.resolve(signal.reason);
    },
    onError: () => undefined,
  });

  queue.wake(only("a"));
  queue.wake(only("b"));
  await expect.poll(() => started).toEqual(["a"]);
  await queue.stop(AbortSignal.timeout(10));
  queue.wake(only("c"));
  await queue.idle();

  expect(String(await aborted.promise)).toContain("shutting down");
  expect(started).toEqual(["a"]);
});

test("whatever the order of wake-ups, no group overlaps with itself and each wake-up is followed by a run", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (wakes, concurrency) => {
        const due = new Map<string, number>();
        const active = new Set<string>();
        let faults = 0;
        const queue = new SessionQueue({
          concurrency,
          run: async ({ group }) => {
            if (active.has(group) || active.size >= concurrency) faults += 1;
            active.add(group);
            due.set(group, 0);
            await Promise.resolve();
            active.delete(group);
          },
          onError: () => undefined,
        });

        for (const wake of wakes) {
          due.set(`g${wake}`, 1);
          queue.wake(only(`g${wake}`));
          if (wake % 2 === 0) await Promise.resolve();
        }
        await queue.idle();

        return faults === 0 && [...due.values()].every((left) => left === 0);
      },
    ),
  );
});

test("who is interested learns what each group does, once per change", async () => {
  const { queue, running, changes } = controlledQueue(1);

  queue.wake(only("a"));
  await expect.poll(() => running.has("a")).toBe(true);
  queue.wake(only("b"));
  queue.wake(only("a"));
  running.get("a")?.resolve();
  await expect.poll(() => running.has("b")).toBe(true);
  const stopping = queue.stop(AbortSignal.timeout(120_000));
  running.get("b")?.resolve();
  await stopping;

  expect(changes).toEqual(["a waiting", "a running", "b waiting", "a waiting", "b running", "a idle", "b idle"]);
});

test("nothing of a held group begins, what runs is waited for, and what was woken meanwhile begins when it is let go", async () => {
  const { queue, started, finish } = controlledQueue(1);
  queue.wake(only("family"));
  await expect.poll(() => started).toEqual(["family"]);
  queue.wake(only("club"));

  const holding = queue.hold(["family", "club"], AbortSignal.timeout(120_000));
  await finish("family");
  const held = await holding;
  queue.wake(only("family"));
  queue.wake(only("others"));
  await expect.poll(() => started).toEqual(["family", "others"]);
  await finish("others");
  held[Symbol.dispose]();

  await expect.poll(() => started).toEqual(["family", "others", "club"]);
  await finish("club");
  await expect.poll(() => started).toEqual(["family", "others", "club", "family"]);
  await finish("family");
  await queue.idle();
});

test("a group that does not come to rest in time is let go again", async () => {
  const { queue, started, finish } = controlledQueue(2);
  queue.wake(only("family"));
  await expect.poll(() => started).toEqual(["family"]);
  const reason = new Error("too late");

  await expect(queue.hold(["family"], AbortSignal.abort(reason))).rejects.toThrow("too late");

  queue.wake(only("family"));
  await finish("family");
  await expect.poll(() => started).toEqual(["family", "family"]);
  await finish("family");
});
