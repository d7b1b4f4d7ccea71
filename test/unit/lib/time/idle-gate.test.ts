import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { IdleGate } from "../../../../src/lib/time/idle-gate.ts";

const never = new AbortController().signal;

test("work begins at once where nothing stirs, and after the quiet time where something did", async () => {
  const lull = new IdleGate({ quietMs: 60, longestMs: 60_000 });
  let hasBegun = false;
  void lull.begin(never).then(() => (hasBegun = true));
  await setImmediate();
  const atOnce = hasBegun;
  lull.stir();
  const stirred = performance.now();
  await lull.begin(never);

  expect(atOnce).toBe(true);
  expect(performance.now() - stirred).toBeGreaterThanOrEqual(60);
});

test("where something stirs all the time, work begins after the longest time", async () => {
  const lull = new IdleGate({ quietMs: 30, longestMs: 120 });
  let stirred = performance.now();
  const stir = (): void => {
    lull.stir();
    stirred = performance.now();
  };
  const stirring = setInterval(stir, 5);
  try {
    stir();
    const begun = performance.now();
    await lull.begin(never);

    // Where a busy machine lets it stir so late that all was quiet, that was a lull.
    const wasQuiet = performance.now() - stirred >= 30;
    expect(wasQuiet ? Infinity : performance.now() - begun).toBeGreaterThanOrEqual(119);
  } finally {
    clearInterval(stirring);
  }
});

test("who is over waits no longer", async () => {
  const lull = new IdleGate({ quietMs: 60_000, longestMs: 60_000 });
  const ended = new AbortController();
  lull.stir();
  const waiting = lull.begin(ended.signal);
  ended.abort();

  await expect(waiting).resolves.toBeUndefined();
});
