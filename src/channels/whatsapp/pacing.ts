import { jittered } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { SendError } from "../channel.ts";

export interface PacingLimits {
  readonly perChatPerSecond: number;
  /** All chats together; as many at once are let through. */
  readonly perMinute: number;
}

const minuteMs = 60_000;
const jitter = { least: 0.75, most: 1.25 };
/** Whoever would wait for longer is sent away with the time to come back. */
const longestWaitMs = 20_000;
/** Chats whose last message is longer ago than this say nothing any more. */
const rememberedChats = 1_000;

/** Keeps the sending slow enough for an account of a person. */
export class Pacing {
  readonly #limits: PacingLimits;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #random: () => number;
  readonly #nextOfChat = new Map<string, number>();
  #allowance: number;
  #countedAt: number;

  /** `random`: a number in 0..1. */
  constructor(limits: PacingLimits, clock: Pick<Clock, "monotonic">, random: () => number) {
    this.#limits = limits;
    this.#clock = clock;
    this.#random = random;
    this.#allowance = limits.perMinute;
    this.#countedAt = clock.monotonic();
  }

  /** Takes the next place and tells how long to wait for it. Throws a `SendError` that asks for patience if that is too long. */
  take(chat: string): number {
    const now = this.#clock.monotonic();
    const perMs = this.#limits.perMinute / minuteMs;
    this.#allowance = Math.min(this.#limits.perMinute, this.#allowance + (now - this.#countedAt) * perMs);
    this.#countedAt = now;
    const forAll = this.#allowance >= 1 ? 0 : (1 - this.#allowance) / perMs;
    const delayMs = Math.max(forAll, (this.#nextOfChat.get(chat) ?? now) - now, 0);
    if (delayMs > longestWaitMs) throw new SendError("too much is being sent at once", { retryAfterMs: delayMs });
    this.#allowance -= 1;
    this.#remember(chat, now + delayMs + this.#spread(1_000 / this.#limits.perChatPerSecond));
    return forAll > 0 ? this.#spread(delayMs) : delayMs;
  }

  #remember(chat: string, next: number): void {
    this.#nextOfChat.delete(chat);
    this.#nextOfChat.set(chat, next);
    const [oldest] = this.#nextOfChat.keys();
    if (this.#nextOfChat.size > rememberedChats && oldest !== undefined) this.#nextOfChat.delete(oldest);
  }

  #spread(ms: number): number {
    return jittered(ms, jitter, this.#random());
  }
}
