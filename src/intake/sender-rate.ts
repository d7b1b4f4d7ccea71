import type { Clock } from "../lib/clock.ts";

const minuteMs = 60_000;
/** Senders that are remembered; beyond that those that have been quiet for longest are forgotten. */
const rememberedSenders = 10_000;

interface Allowance {
  /** When, on the monotonic clock, the sender will have used nothing of what a minute allows. */
  restoredAt: number;
  /** Somebody has been told that there are too many, and it is still the same flood. */
  told: boolean;
}

/**
 * Counts messages by sender: as many as a minute allows at once, and then one more whenever its share of the minute has
 * passed. A sender is a group and a stable id.
 */
export class SenderRate {
  readonly #perMinute: () => number;
  readonly #clock: Clock;
  readonly #allowances = new Map<string, Allowance>();

  constructor(perMinute: () => number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Seconds until the next message of the sender may come; 0: now. */
  waitS(sender: string): number {
    const now = this.#clock.monotonic();
    const restoredAt = Math.max(this.#allowances.get(sender)?.restoredAt ?? 0, now);
    return Math.max(0, restoredAt + minuteMs / this.#perMinute() - now - minuteMs) / 1000;
  }

  count(sender: string): void {
    const now = this.#clock.monotonic();
    const known = this.#allowances.get(sender);
    const isCalm = !known || known.restoredAt <= now;
    const from = isCalm ? now : known.restoredAt;
    this.#allowances.delete(sender);
    this.#allowances.set(sender, {
      restoredAt: from + minuteMs / this.#perMinute(),
      told: !isCalm && known.told,
    });
    const [quietest] = this.#allowances.keys();
    if (this.#allowances.size > rememberedSenders && quietest !== undefined) this.#allowances.delete(quietest);
  }

  /** True for the first one who asks during a flood of this sender. */
  isNews(sender: string): boolean {
    const allowance = this.#allowances.get(sender);
    if (!allowance || allowance.told) return false;
    allowance.told = true;
    return true;
  }
}
