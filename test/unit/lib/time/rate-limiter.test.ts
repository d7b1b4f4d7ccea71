import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type RateLimit, RateLimiter } from "../../../../src/lib/time/rate-limiter.ts";

const limits: fc.Arbitrary<Required<RateLimit>> = fc
  .record({
    count: fc.integer({ min: 1, max: 50 }),
    periodMs: fc.integer({ min: 1, max: 60_000 }),
    burst: fc.integer({ min: 1, max: 8 }),
    reopen: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ reopen, ...rest }) => ({ ...rest, reopenAt: Math.min(reopen, rest.burst) }));
/** Pauses between arrivals, as shares of the time that one of them is worth. */
const pauses = fc.array(fc.double({ min: 0, max: 0.8, noNaN: true }), { minLength: 50, maxLength: 100 });

function arrivalsOf({ count, periodMs }: RateLimit, shares: readonly number[]): number[] {
  let now = 1_000;
  return shares.map((share) => (now += (share * periodMs) / count));
}

test("never are more let through than the burst and the rate of the time that has passed", () => {
  fc.assert(
    fc.property(limits, pauses, (limit, shares) => {
      const limiter = new RateLimiter(limit);

      const passed = arrivalsOf(limit, shares).filter((now) => limiter.take(now).waitMs === 0);

      const excess = passed.flatMap((since, first) =>
        passed.slice(first).map((until, more) => {
          const most = limit.burst + ((until - since + 0.002) * limit.count) / limit.periodMs;
          return more + 1 - most;
        }),
      );
      expect(Math.max(0, ...excess)).toBe(0);
    }),
  );
});

test("whoever waits for as long as it is told gets through, and not much before", () => {
  fc.assert(
    fc.property(limits, pauses, (limit, shares) => {
      const limiter = new RateLimiter(limit);
      const shareMs = limit.periodMs / limit.count;

      const now = arrivalsOf(limit, shares).reduce((_, at) => (limiter.take(at), at), 0);
      while (limiter.take(now).waitMs === 0);
      const { waitMs } = limiter.take(now);

      expect(waitMs).toBeGreaterThan(0);
      // Less than a thousandth of a millisecond is no wait.
      const early = Math.max(0.0015, Math.min(waitMs, shareMs) / 10);
      expect(early >= waitMs || limiter.waitMs(now + waitMs - early) > 0).toBe(true);
      expect(limiter.waitMs(now + waitMs)).toBe(0);
    }),
  );
});

test("one that was overrun reopens only when it can let this many through at once", () => {
  fc.assert(
    fc.property(limits, (limit) => {
      const limiter = new RateLimiter(limit);
      let now = 0;
      while (limiter.take(now).waitMs === 0);

      now += limiter.waitMs(now);

      const passed = Array.from({ length: limit.reopenAt }, () => limiter.take(now).waitMs);
      expect(passed).toEqual(passed.map(() => 0));
    }),
  );
});

test("it says how many were refused since the last one, each key by itself", () => {
  const limiter = new RateLimiter({ count: 1, periodMs: 100 });

  const refused = [0, 10, 20, 100].map((now) => limiter.take(now, "a").refused);

  expect(refused).toEqual([0, 1, 2, 2]);
  expect(limiter.take(100, "b")).toEqual({ waitMs: 0, refused: 0 });
});

test("a limit that changes holds at once, and of too many keys the quietest is forgotten", () => {
  let count = 1;
  const limiter = new RateLimiter(() => ({ count, periodMs: 60_000 }), 2);
  limiter.count(0, "a");
  const before = limiter.waitMs(0, "a");
  count = 2;
  const after = limiter.waitMs(0, "a");
  limiter.count(0, "b");
  limiter.count(0, "c");

  expect([before, after]).toEqual([60_000, 30_000]);
  expect(limiter.waitMs(0, "a")).toBe(0);
  expect(limiter.isRestored(0, "a")).toBe(true);
  expect(limiter.isRestored(0, "c")).toBe(false);
});
