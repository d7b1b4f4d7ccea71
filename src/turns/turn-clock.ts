import type { TurnPhase, TurnTimes } from "../domain/turns/turn.ts";

/** Time of a turn by phase. Exactly one phase at any moment, so they add up to the whole. */
export class TurnClock {
  readonly #now: () => number;
  readonly #spent: Partial<Record<TurnPhase, number>> = {};
  #phase: TurnPhase | undefined;
  #since = 0;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Switches to this phase; undefined: none. */
  enter(phase: TurnPhase | undefined): void {
    const now = this.#now();
    if (this.#phase !== undefined) this.add(this.#phase, now - this.#since);
    this.#phase = phase;
    this.#since = now;
  }

  add(phase: TurnPhase, ms: number): void {
    this.#spent[phase] = (this.#spent[phase] ?? 0) + ms;
  }

  /** Milliseconds to the tenth, without what the current phase has taken so far. */
  times(): TurnTimes {
    const rounded = Object.entries(this.#spent).map(([phase, ms]) => [phase, Math.round(ms * 10) / 10]);
    return Object.fromEntries(rounded) as TurnTimes;
  }
}
