/** Between which shares of itself a delay is drawn, so that those who failed together do not come back together. */
export interface Jitter {
  readonly least: number;
  readonly most: number;
}

export interface BackoffOptions {
  /** After the first failure; doubled with each further one up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Left out: every delay is exact. */
  readonly jitter?: Jitter;
}

/**
 * Milliseconds to wait after the n-th failure in a row, exponentially. Callers restart at 1 after a success. `random`
 * is in 0..1.
 */
export function backoffMs({ firstMs, longestMs, jitter }: BackoffOptions, failures: number, random = 0): number {
  const delayMs = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  return jitter ? jittered(delayMs, jitter, random) : delayMs;
}

/** The delay, shorter or longer by chance. */
export function jittered(delayMs: number, { least, most }: Jitter, random: number): number {
  return delayMs * (least + (most - least) * random);
}
