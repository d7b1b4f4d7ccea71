import { expect, test } from "vitest";

import { ForwardClock } from "../../../../src/lib/time/forward-clock.ts";
import { CodeTries } from "../../../../src/rights/people/code-tries.ts";
import { openTestStore } from "../../../support/open-test-store.ts";

const minuteMs = 60_000;

/** Codes on a clock that the test sets; `start` is what a start of the host does. */
async function openRig() {
  const home = await openTestStore();
  const time = { wall: 1_000 * minuteMs, monotonic: 0 };
  const clock = { now: () => time.wall, monotonic: () => time.monotonic };
  const start = (latest = 0): CodeTries => {
    const forward = new ForwardClock(clock, latest);
    return new CodeTries(home.store.requests, () => forward.now());
  };
  return { time, start, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("five wrong codes lock a place for five minutes, and no other; one message counts once", async () => {
  await using rig = await openRig();
  const codes = rig.start();
  for (const seq of [1, 1, 2, 3, 4]) await codes.wrong("person http:ann", seq);
  expect(await codes.isLocked("person http:ann")).toBe(false);

  expect(await codes.wrong("person http:ann", 5)).toBe(true);

  expect(await codes.isLocked("person http:ann")).toBe(true);
  expect([await codes.isLocked("person whatsapp:ann"), await codes.isLocked("http:ann")]).toEqual([false, false]);
  rig.time.wall += 5 * minuteMs;
  rig.time.monotonic += 5 * minuteMs;
  expect(await codes.isLocked("person http:ann")).toBe(false);
  expect(await codes.wrong("person http:ann", 6)).toBe(false);
});

test("a lock holds over a restart, and neither ends sooner nor later where the clock is set back meanwhile", async () => {
  await using rig = await openRig();
  const before = rig.start();
  for (const seq of [1, 2, 3, 4, 5]) await before.wrong("person http:ann", seq);
  const locked = rig.time.wall;
  rig.time.wall -= 24 * 60 * minuteMs;

  const after = rig.start(locked);
  const held = await after.isLocked("person http:ann");
  rig.time.monotonic += 4 * minuteMs;
  const stillHeld = await after.isLocked("person http:ann");
  rig.time.monotonic += 1 * minuteMs;

  expect([held, stillHeld, await after.isLocked("person http:ann")]).toEqual([true, true, false]);
});
