import * as fc from "fast-check";
import { expect, test } from "vitest";

import { backoffMs, jittered } from "../../../../src/lib/time/backoff.ts";

const limits = fc
  .record({
    firstMs: fc.integer({ min: 1, max: 100_000 }),
    longestMs: fc.integer({ min: 1, max: 10_000_000 }),
    jitter: fc.constantFrom<[number, number][]>([1, 1], [0, 1], [0.5, 1], [0.75, 1.25]),
  })
  .map(({ jitter: [least, most], ...rest }) => ({ ...rest, jitter: { least, most } }));
const random = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const failures = fc.integer({ min: 1, max: 100_000 });

test("a delay stays within its jitter around what is doubled with each failure, and that within its bound", () => {
  fc.assert(
    fc.property(limits, failures, random, (given, count, chance) => {
      const { firstMs, longestMs, jitter } = given;
      const exact = Math.min(longestMs, firstMs * 2 ** (count - 1));

      const delayMs = backoffMs(given, count, chance);

      expect(delayMs).toBeGreaterThanOrEqual(exact * jitter.least * (1 - 1e-9));
      expect(delayMs).toBeLessThanOrEqual(exact * jitter.most * (1 + 1e-9));
    }),
  );
});

test("with the same chance a later failure never waits for less, and after a success it begins as at first", () => {
  fc.assert(
    fc.property(limits, failures, random, (given, count, chance) => {
      expect(backoffMs(given, count + 1, chance)).toBeGreaterThanOrEqual(backoffMs(given, count, chance));
      expect(backoffMs(given, 1, chance)).toBe(
        jittered(Math.min(given.firstMs, given.longestMs), given.jitter, chance),
      );
    }),
  );
});

test("without jitter the delays are exact", () => {
  const delays = [1, 2, 3, 4, 5, 2_000].map((count) => backoffMs({ firstMs: 500, longestMs: 3_000 }, count));

  expect(delays).toEqual([500, 1_000, 2_000, 3_000, 3_000, 3_000]);
});
