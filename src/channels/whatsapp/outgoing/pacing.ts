import { jittered } from "../../../lib/time/backoff.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { RateLimiter } from "../../../lib/time/rate-limiter.ts";
import { SendError } from "../../channel.ts";

export interface PacingLimits {
  readonly perChatPerSecond: number;
  /** All chats together; as many at once are let through. */
  readonly perMinute: number;
}

const jitter = { least: 0.75, most: 1.25 };
/** Whoever would wait for longer is sent away with the time to come back. */
const longestWaitMs = 20_000;
/** Maximum remembered chats; older ones no longer affect the pace. */
const rememberedChats = 1_000;

/** Keeps the sending slow enough for an account of a person. */
export class Pacing {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #random: () => number;
  readonly #perMinute: number;
  readonly #all: RateLimiter;
  readonly #ofChat: RateLimiter;

  /** `random`: a number in 0..1. */
  constructor(limits: PacingLimits, clock: Pick<Clock, "monotonic">, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#perMinute = limits.perMinute;
    this.#all = new RateLimiter({ count: limits.perMinute, periodMs: 60_000 });
    this.#ofChat = new RateLimiter({ count: limits.perChatPerSecond, periodMs: 1_000, burst: 1 }, rememberedChats);
  }

  /**
   * Takes the next place and tells how long to wait for it. Throws a `SendError` that asks for patience if that is too
   * long.
   */
  take(chat: string): number {
    const now = this.#clock.monotonic();
    const forAll = this.#all.waitMs(now);
    const delayMs = Math.max(forAll, this.#ofChat.waitMs(now, chat));
    if (delayMs > longestWaitMs) throw new SendError("too much is being sent at once", { retryAfterMs: delayMs });
    this.#all.count(now);
    this.#ofChat.count(now + delayMs, chat, this.#spread(1));
    return forAll > 0 ? this.#spread(delayMs) : delayMs;
  }

  /** Takes a place for something that may as well not be said, if many are left. Nothing that follows waits for it. */
  takeSpare(): boolean {
    const now = this.#clock.monotonic();
    if (this.#all.left(now) < Math.max(1, this.#perMinute / 2)) return false;
    this.#all.count(now);
    return true;
  }

  #spread(amount: number): number {
    return jittered(amount, jitter, this.#random());
  }
}
