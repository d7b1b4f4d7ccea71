export interface RateLimit {
  /** Number per period, evenly spread. */
  readonly count: number;
  readonly periodMs: number;
  /** Number allowed at once, at least 1; `count` by default. */
  readonly burst?: number;
  /** Once one was refused, all are until this many could pass at once, at most `burst`; left out: 1. */
  readonly reopenAt?: number;
}

/** Result of asking to pass. */
export interface RateVerdict {
  /** 0: it passed. */
  readonly waitMs: number;
  /** Number refused since the last one that passed, including this one. */
  readonly refused: number;
}

interface KeyState {
  /** When all that was counted will have been made up for: the algorithm's theoretical arrival time. */
  restoredAt: number;
  closed: boolean;
  refused: number;
}

/** Less than this is no wait: sums of fractions are not exact. */
const slackMs = 0.001;

/**
 * Limits how often something happens, by key: the Generic Cell Rate Algorithm (ITU-T Recommendation I.371, its virtual
 * scheduling), which keeps one time for each key and needs no timer. It is the only rate limiter here. Every `now` is
 * monotonic, in milliseconds. Of more keys than `keys` those that were counted longest ago are forgotten.
 */
export class RateLimiter {
  readonly #limit: () => RateLimit;
  readonly #keys: number;
  readonly #states = new Map<string, KeyState>();

  constructor(limit: RateLimit | (() => RateLimit), keys = 10_000) {
    this.#limit = typeof limit === "function" ? limit : () => limit;
    this.#keys = keys;
  }

  /** Asks whether another one may pass, without counting it: for how long it would have to wait; 0: not at all. */
  waitMs(now: number, key = ""): number {
    const state = this.#states.get(key);
    if (!state) return 0;
    const { count, periodMs, burst = count, reopenAt = 1 } = this.#limit();
    const waitFor = (needed: number): number => state.restoredAt - now - (burst - needed) * (periodMs / count);
    state.closed = waitFor(state.closed ? reopenAt : 1) > slackMs;
    return state.closed ? waitFor(reopenAt) : 0;
  }

  /** One has passed, whether it might or not; one that is worth more or less has a `cost`. */
  count(now: number, key = "", cost = 1): void {
    const { count, periodMs } = this.#limit();
    const state = this.#states.get(key) ?? { restoredAt: now, closed: false, refused: 0 };
    state.restoredAt = Math.max(state.restoredAt, now) + (cost * periodMs) / count;
    state.refused = 0;
    this.#states.delete(key);
    this.#states.set(key, state);
    const [quietest] = this.#states.keys();
    if (this.#states.size > this.#keys && quietest !== undefined) this.#states.delete(quietest);
  }

  /** Counts it if it may pass. */
  take(now: number, key = ""): RateVerdict {
    const waitMs = this.waitMs(now, key);
    const state = this.#states.get(key);
    if (state && waitMs > 0) return { waitMs, refused: (state.refused += 1) };
    const refused = state?.refused ?? 0;
    this.count(now, key);
    return { waitMs: 0, refused };
  }

  /** Counts more as refused, together with one that just was. */
  refuse(key: string, number: number): void {
    const state = this.#states.get(key);
    if (state) state.refused += number;
  }

  /** Number that could pass now; negative after too many. */
  left(now: number, key = ""): number {
    const { count, periodMs, burst = count } = this.#limit();
    const used = Math.max(0, (this.#states.get(key)?.restoredAt ?? now) - now);
    return burst - (used * count) / periodMs;
  }

  /** Nothing of the key's limit is used up. */
  isRestored(now: number, key = ""): boolean {
    return (this.#states.get(key)?.restoredAt ?? now) <= now;
  }
}
