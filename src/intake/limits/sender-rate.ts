import type { Clock } from "../../lib/time/clock.ts";
import { RateLimiter } from "../../lib/time/rate-limiter.ts";

/** Senders that are remembered; beyond that those that have been quiet for longest are forgotten. */
const rememberedSenders = 10_000;

/**
 * Counts messages by sender: as many as a minute allows at once, and then one more whenever its share of the minute has
 * passed. A sender is a group and a stable id.
 */
export class SenderRate {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  /** Senders told about their flood and not calm since. */
  readonly #told = new Set<string>();

  constructor(perMinute: () => number, clock: Clock) {
    this.#clock = clock;
    this.#limiter = new RateLimiter(() => ({ count: perMinute(), periodMs: 60_000 }), rememberedSenders);
  }

  /** Seconds until the next message of the sender may come; 0: now. */
  waitS(sender: string): number {
    return this.#limiter.waitMs(this.#clock.monotonic(), sender) / 1000;
  }

  count(sender: string): void {
    const now = this.#clock.monotonic();
    if (this.#limiter.isRestored(now, sender)) this.#told.delete(sender);
    this.#limiter.count(now, sender);
  }

  /** True for the first one who asks during a flood of this sender. */
  isNews(sender: string): boolean {
    if (this.#told.has(sender)) return false;
    this.#told.add(sender);
    const [oldest] = this.#told;
    if (this.#told.size > rememberedSenders && oldest !== undefined) this.#told.delete(oldest);
    return true;
  }
}
