import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ForwardClock } from "../../../../src/lib/time/forward-clock.ts";

test("however the wall clock is set, time goes on at least as fast as it passes", () => {
  const moves = fc.array(fc.record({ wall: fc.integer({ min: -1e9, max: 1e9 }), ran: fc.nat(1e6) }));
  fc.assert(
    fc.property(moves, fc.integer({ min: 0, max: 2e12 }), (steps, latest) => {
      const at = { wall: 1e12, ran: 5 };
      const clock = new ForwardClock({ now: () => at.wall, monotonic: () => at.ran }, latest);
      let before = clock.now();
      expect(before).toBeGreaterThanOrEqual(Math.max(latest, 1e12));
      for (const { wall, ran } of steps) {
        at.wall += wall;
        at.ran += ran;
        const now = clock.now();
        expect(now).toBeGreaterThanOrEqual(before + ran);
        expect(now).toBeGreaterThanOrEqual(at.wall);
        before = now;
      }
    }),
  );
});

test("where nobody sets it, it says what the wall clock says", () => {
  const at = { wall: 1e12, ran: 0 };
  const clock = new ForwardClock({ now: () => at.wall, monotonic: () => at.ran }, 5);

  at.wall += 1_000;
  at.ran += 1_000;

  expect(clock.now()).toBe(1e12 + 1_000);
});
