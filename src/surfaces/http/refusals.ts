import type { Clock } from "../../lib/time/clock.ts";
import { RateLimiter } from "../../lib/time/rate-limiter.ts";

/** A request that was answered with "no", without anything that its sender wrote. */
export interface HttpRefusal {
  readonly status: number;
  readonly method: string;
  /** Route as known to the server, not as requested. */
  readonly route: string;
  readonly address: string;
  /** Refusals of the same kind before this one that were not told. */
  readonly untold: number;
}

/** Maximum records per minute for a status and route, so that strangers cannot fill the disk. */
const toldPerMinute = 30;

/**
 * Tells the first refusals of each status and route within a minute; the first one after that says how many were left
 * out.
 */
export function createRefusalReport(
  clock: Clock,
  tell: (refusal: HttpRefusal) => void,
): (refusal: Omit<HttpRefusal, "untold">) => void {
  const limiter = new RateLimiter({ count: toldPerMinute, periodMs: 60_000, reopenAt: toldPerMinute });
  return (refusal) => {
    const { waitMs, refused: untold } = limiter.take(clock.monotonic(), `${refusal.status} ${refusal.route}`);
    if (waitMs === 0) tell({ ...refusal, untold });
  };
}
