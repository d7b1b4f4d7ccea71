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

/**
 * What was noted in the future by less than this counts as noted now: a clock that is set back by so little may have
 * been set right.
 */
export const clockSlackMs = 60_000;
