import type { ProviderError, ProviderFailure } from "./provider.ts";

const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** A vendor that asks for more is given up in favour of the next model of the route. */
const longestRetryAfterMs = 60_000;

const passing: readonly ProviderFailure[] = ["rate-limited", "overloaded", "unavailable"];

/**
 * How long to wait before the next try, milliseconds; `undefined` when none is worth it. What the vendor asks for is kept to;
 * on top of it comes a random part of a limit that doubles with each failure (full jitter), so that groups that failed
 * together do not come back together.
 */
export function backoffMs(error: ProviderError, failures: number, random: () => number): number | undefined {
  if (!passing.includes(error.failure)) return undefined;
  const askedMs = error.retryAfterMs ?? 0;
  if (askedMs > longestRetryAfterMs) return undefined;
  return askedMs + random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1));
}
