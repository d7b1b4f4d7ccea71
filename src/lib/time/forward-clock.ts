import type { Clock } from "./clock.ts";

/**
 * The time of day for what has to be over some day: it goes on, by the monotonic clock, where the wall clock is set
 * back.
 */
export class ForwardClock {
  readonly #clock: Clock;
  #latest: number;
  #at: number;

  /** `latest`: a moment that is past for sure, such as the newest thing on record; milliseconds since 1970. */
  constructor(clock: Clock, latest = 0) {
    this.#clock = clock;
    this.#latest = latest;
    this.#at = clock.monotonic();
  }

  /** Milliseconds since 1970, never less than before. */
  now(): number {
    const at = this.#clock.monotonic();
    this.#latest = Math.max(this.#clock.now(), this.#latest + Math.round(at - this.#at));
    this.#at = at;
    return this.#latest;
  }
}
