import PQueue from "p-queue";

import type { Place } from "../domain/place.ts";
import { rejectAt } from "../lib/wait.ts";

/** Work that has held its place for this long lets others that wait go first, before its next piece. */
const sliceMs = 10_000;

interface Seat {
  /** Resolved when the place is free for the next in line; undefined while it is not held. */
  held: PromiseWithResolvers<void> | undefined;
  since: number;
  isAway: boolean;
  isOver: boolean;
}

/**
 * The places in which groups work, given out in the order of asking. Work that only waits, for its tools say, leaves its
 * place to the next in line and stands in line again when it goes on. As many may be away as there are places: so at most
 * twice as many are under way, and nobody has to wait for a sleeper until there are that many of them. Then the one that
 * has been overdue for longest is told to end.
 */
export class Places {
  readonly #line: PQueue;
  /** Milliseconds on a clock that only runs forward. */
  readonly #now: () => number;
  #away = 0;
  /** Would leave if not so many were away. */
  readonly #leaving = new Set<Seat>();
  readonly #overdue = new Map<Seat, () => void>();
  /** Stand in line. */
  readonly #waiting = new Set<Seat>();
  /** Told to end, and still there: their tools may be over before they are. */
  readonly #ending = new Set<Seat>();

  constructor(parts: { readonly count: number; readonly now: () => number }) {
    this.#line = new PQueue({ concurrency: parts.count });
    this.#now = parts.now;
  }

  /** A place, as soon as there is one. */
  async enter(): Promise<Place> {
    const seat: Seat = { held: undefined, since: 0, isAway: false, isOver: false };
    await this.#standInLine(seat);
    return {
      leave: () => this.#leave(seat),
      claim: (signal) => this.#claim(seat, signal),
      overdue: (end) => this.#beOverdue(seat, end),
      [Symbol.dispose]: () => this.#end(seat),
    };
  }

  async #standInLine(seat: Seat, signal?: AbortSignal): Promise<void> {
    const begun = Promise.withResolvers<void>();
    this.#waiting.add(seat);
    void this.#line.add(() => {
      this.#waiting.delete(seat);
      if (seat.isOver || signal?.aborted === true) return undefined;
      this.#comeBack(seat);
      seat.since = this.#now();
      seat.held = Promise.withResolvers();
      begun.resolve();
      return seat.held.promise;
    });
    this.#makeOverdueEnd();
    try {
      await (signal ? Promise.race([begun.promise, rejectAt(signal)]) : begun.promise);
    } finally {
      this.#waiting.delete(seat);
    }
  }

  async #claim(seat: Seat, signal: AbortSignal): Promise<void> {
    const hasHadItsSlice = this.#line.size > 0 && this.#now() - seat.since >= sliceMs;
    if (hasHadItsSlice) this.#leave(seat);
    this.#leaving.delete(seat);
    if (!seat.held) await this.#standInLine(seat, signal);
  }

  #leave(seat: Seat): void {
    if (!seat.held) return;
    if (this.#away >= this.#line.concurrency) {
      this.#leaving.add(seat);
      return;
    }
    this.#leaving.delete(seat);
    seat.isAway = true;
    this.#away += 1;
    this.#giveUp(seat);
  }

  #comeBack(seat: Seat): void {
    if (!seat.isAway) return;
    seat.isAway = false;
    this.#away -= 1;
    const [next] = this.#leaving;
    if (next) this.#leave(next);
  }

  #beOverdue(seat: Seat, end: () => void): Disposable {
    this.#overdue.set(seat, end);
    this.#makeOverdueEnd();
    return { [Symbol.dispose]: () => this.#overdue.delete(seat) };
  }

  /** One for each that waits, the one that has been overdue for longest first. */
  #makeOverdueEnd(): void {
    const waiting = this.#waiting.difference(this.#ending).size;
    for (const [seat, end] of this.#overdue) {
      if (this.#ending.size >= waiting) return;
      this.#overdue.delete(seat);
      this.#ending.add(seat);
      end();
    }
  }

  #end(seat: Seat): void {
    seat.isOver = true;
    this.#leaving.delete(seat);
    this.#overdue.delete(seat);
    this.#ending.delete(seat);
    this.#waiting.delete(seat);
    this.#comeBack(seat);
    this.#giveUp(seat);
  }

  #giveUp(seat: Seat): void {
    seat.held?.resolve();
    seat.held = undefined;
  }
}
