import { setImmediate } from "node:timers/promises";

import type { Clock } from "../../src/lib/time/clock.ts";
import type { Sleep } from "../../src/lib/time/sleep.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that passes when the test says so. */
export class VirtualTime {
  /** Every wait that was begun, in milliseconds. */
  readonly waits: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;

  readonly clock: Clock = { now: () => this.#now, monotonic: () => this.#now };

  readonly wait: Sleep = async (delayMs, signal) => {
    if (signal.aborted) return;
    this.waits.push(delayMs);
    const awake = Promise.withResolvers<void>();
    const sleeper = { at: this.#now + delayMs, wake: () => awake.resolve() };
    this.#sleepers.add(sleeper);
    signal.addEventListener("abort", sleeper.wake, { once: true });
    await awake.promise;
    signal.removeEventListener("abort", sleeper.wake);
    this.#sleepers.delete(sleeper);
  };

  /** Number of sleepers. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let round = 0; round < 5; round += 1) await setImmediate();
  }

  /** Lets time pass; whoever wakes up on the way does so at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await this.settle();
      const next = [...this.#sleepers].toSorted((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#now = Math.max(this.#now, next.at);
      this.#sleepers.delete(next);
      next.wake();
    }
    this.#now = end;
    await this.settle();
  }
}
