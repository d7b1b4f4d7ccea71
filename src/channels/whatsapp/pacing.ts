import type { Clock } from "../../lib/clock.ts";
import { SendError } from "../channel.ts";

export interface PacingLimits {
  readonly perChatPerSecond: number;
  /** All chats together; as many at once are let through. */
  readonly perMinute: number;
}

const minuteMs = 60_000;
/** Part of a wait by which it may be shorter or longer. */
const jitter = 0.25;
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
    const now = this.#refill();
    const perMs = this.#limits.perMinute / minuteMs;
    const forAll = this.#allowance >= 1 ? 0 : (1 - this.#allowance) / perMs;
    const delayMs = Math.max(forAll, (this.#nextOfChat.get(chat) ?? now) - now, 0);
    if (delayMs > longestWaitMs) throw new SendError("too much is being sent at once", { retryAfterMs: delayMs });
    this.#allowance -= 1;
    this.#remember(chat, now + delayMs + (1_000 / this.#limits.perChatPerSecond) * this.#spread());
    return forAll > 0 ? delayMs * this.#spread() : delayMs;
  }

  /** Takes a place for something that may as well not be said, if many are left. Nothing that follows waits for it. */
  takeSpare(): boolean {
    this.#refill();
    if (this.#allowance < this.#limits.perMinute / 2 || this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }

  #refill(): number {
    const now = this.#clock.monotonic();
    const perMs = this.#limits.perMinute / minuteMs;
    this.#allowance = Math.min(this.#limits.perMinute, this.#allowance + (now - this.#countedAt) * perMs);
    this.#countedAt = now;
    return now;
  }

  #remember(chat: string, next: number): void {
    this.#nextOfChat.delete(chat);
    this.#nextOfChat.set(chat, next);
    const [oldest] = this.#nextOfChat.keys();
    if (this.#nextOfChat.size > rememberedChats && oldest !== undefined) this.#nextOfChat.delete(oldest);
  }

  #spread(): number {
    return 1 - jitter + 2 * jitter * this.#random();
  }
}
