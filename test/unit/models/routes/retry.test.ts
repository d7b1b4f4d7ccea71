import { expect, test } from "vitest";

import { ProviderError } from "../../../../src/models/provider.ts";
import { retryDelayMs } from "../../../../src/models/routes/retry.ts";

const overloaded = new ProviderError("overloaded", "busy");

test("waiting doubles with each failure up to half a minute, and is spread at random", () => {
  const longest = [1, 2, 3, 4, 5, 6, 9].map((failures) => retryDelayMs(overloaded, failures, () => 1));

  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(retryDelayMs(overloaded, 4, () => 0)).toBe(0);
});

test("it never comes back before the vendor wants it to", () => {
  const limited = new ProviderError("rate-limited", "slow down", { retryAfterMs: 20_000 });

  expect(retryDelayMs(limited, 1, () => 0)).toBe(20_000);
});

test.each(["auth", "invalid", "too-long"] as const)("what is refused as %s is not tried again", (failure) => {
  expect(retryDelayMs(new ProviderError(failure, "no"), 1, () => 0)).toBeUndefined();
});

test("a vendor that wants more than a minute is given up", () => {
  const limited = new ProviderError("rate-limited", "slow down", { retryAfterMs: 61_000 });

  expect(retryDelayMs(limited, 1, () => 0)).toBeUndefined();
});
