/**
 * The only source of time in the core, so that tests can steer it. Never used for ordering: order comes from store
 * counters.
 */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds; only differences mean anything. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Tolerance for times in the future: a clock may have been corrected by this much. */
export const clockSlackMs = 60_000;
