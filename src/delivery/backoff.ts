/** How often and how far apart a message is tried. */
export interface RetryLimits {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const deliveryRetry: RetryLimits = { attempts: 5, firstDelayMs: 1_000, longestDelayMs: 60_000 };

/** Milliseconds to wait after this failed attempt (1, 2 …): doubled each time, between half and all of it. `random` is in 0..1. */
export function retryDelayMs(limits: RetryLimits, attempt: number, random: number): number {
  const delay = Math.min(limits.longestDelayMs, limits.firstDelayMs * 2 ** (attempt - 1));
  return delay * (0.5 + random / 2);
}
