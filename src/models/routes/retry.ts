import { type BackoffOptions, backoffMs } from "../../lib/time/backoff.ts";
import type { ProviderError, ProviderFailure } from "../provider.ts";

/** All of it by chance (full jitter), so that groups that failed together do not come back together. */
const backoff: BackoffOptions = { firstMs: 1_000, longestMs: 30_000, jitter: { least: 0, most: 1 } };
/** A vendor that asks for more is given up in favour of the next model of the route. */
const longestRetryAfterMs = 60_000;

const passing: readonly ProviderFailure[] = ["rate-limited", "overloaded", "unavailable"];

/**
 * Milliseconds before the next try; `undefined` when none is worthwhile. Obeys the vendor's hint and adds our own
 * back-off.
 */
export function retryDelayMs(error: ProviderError, failures: number, random: () => number): number | undefined {
  if (!passing.includes(error.failure)) return undefined;
  const askedMs = error.retryAfterMs ?? 0;
  if (askedMs > longestRetryAfterMs) return undefined;
  return askedMs + backoffMs(backoff, failures, random());
}
