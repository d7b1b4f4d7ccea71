import type { WorkSlot } from "../../domain/work/work-slot.ts";
import { rejectAt } from "../../lib/time/reject-at.ts";

/** Work that has held its place for this long lets others that wait go first, before its next piece. */
const sliceMs = 10_000;
/** Number of slots in a row for awaited work, after which other queued work gets one. */
const mostInARow = 8;

interface Seat {
  readonly group: string;
  /** True when people wait for it. */
  readonly isAwaited: () => boolean;
  /** Resolved when the seat gets a place; undefined while it does not stand in line. */
  turn: PromiseWithResolvers<void> | undefined;
  holds: boolean;
  since: number;
  isAway: boolean;
}

/**
 * Slots in which sessions work. A free slot goes to awaited work, but each ninth to other work: then to the group that
 * holds the fewest, among those to the one served longest ago, and in a group to its longest-waiting session. Work that
 * only waits, as for its tools, gives its slot to the next in line and queues again when it continues. As many may be
 * away as there are slots, so at most twice as many are under way. Beyond that, the one that is longest overdue is told
 * to end.
 */
export class WorkSlots {
  readonly #count: number;
  /** Milliseconds on a clock that only runs forward. */
  readonly #now: () => number;
  /** In the order of asking. */
  readonly #line = new Set<Seat>();
  /** WorkSlots held, by group. */
  readonly #held = new Map<string, number>();
  /** Order in which groups last got a slot, since nobody held one. */
  readonly #given = new Map<string, number>();
  #gifts = 0;
  /** WorkSlots given in a row to work that people wait for, while other work stood in line. */
  #inARow = 0;
  #free: number;
  #away = 0;
  /** Sessions that would leave if fewer were away. */
  readonly #leaving = new Set<Seat>();
  readonly #overdue = new Map<Seat, () => void>();
  /** Told to end, and still there: their tools may be over before they are. */
  readonly #ending = new Set<Seat>();

  constructor(options: { readonly count: number; readonly now: () => number }) {
    this.#count = options.count;
    this.#free = options.count;
    this.#now = options.now;
  }

  /** A place for work of this group, as soon as it is its turn. `isAwaited` is asked whenever a place is free. */
  async enter(group: string, isAwaited: () => boolean = () => false): Promise<WorkSlot> {
    const seat: Seat = { group, isAwaited, turn: undefined, holds: false, since: 0, isAway: false };
    await this.#standInLine(seat);
    return {
      leave: () => this.#leave(seat),
      claim: (signal) => this.#claim(seat, signal),
      overdue: (end) => this.#markOverdue(seat, end),
      [Symbol.dispose]: () => this.#end(seat),
    };
  }

  async #standInLine(seat: Seat, signal?: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    seat.turn = turn;
    if (this.#held.size === 0) this.#given.clear();
    this.#line.add(seat);
    this.#fillPlaces();
    this.#makeOverdueEnd();
    try {
      await (signal ? Promise.race([turn.promise, rejectAt(signal)]) : turn.promise);
    } finally {
      this.#line.delete(seat);
      seat.turn = undefined;
    }
  }

  #fillPlaces(): void {
    while (this.#free > 0) {
      const seat = this.#next();
      if (!seat) return;
      this.#line.delete(seat);
      this.#free -= 1;
      this.#held.set(seat.group, this.#heldBy(seat) + 1);
      this.#given.set(seat.group, (this.#gifts += 1));
      seat.holds = true;
      seat.since = this.#now();
      this.#comeBack(seat);
      seat.turn?.resolve();
    }
  }

  #next(): Seat | undefined {
    let awaited: Seat | undefined;
    let other: Seat | undefined;
    for (const seat of this.#line) {
      if (seat.isAwaited()) awaited = !awaited || this.#isBefore(seat, awaited) ? seat : awaited;
      else other = !other || this.#isBefore(seat, other) ? seat : other;
    }
    if (!awaited || !other) {
      this.#inARow = 0;
      return awaited ?? other;
    }
    this.#inARow = (this.#inARow + 1) % (mostInARow + 1);
    return this.#inARow === 0 ? other : awaited;
  }

  #isBefore(seat: Seat, other: Seat): boolean {
    const held = this.#heldBy(seat) - this.#heldBy(other);
    return held === 0 ? (this.#given.get(seat.group) ?? 0) < (this.#given.get(other.group) ?? 0) : held < 0;
  }

  #heldBy({ group }: Seat): number {
    return this.#held.get(group) ?? 0;
  }

  async #claim(seat: Seat, signal: AbortSignal): Promise<void> {
    const hasHadItsSlice = this.#line.size > 0 && this.#now() - seat.since >= sliceMs;
    if (hasHadItsSlice) this.#leave(seat);
    this.#leaving.delete(seat);
    if (seat.holds) return;
    signal.throwIfAborted();
    await this.#standInLine(seat, signal);
  }

  #leave(seat: Seat): void {
    if (!seat.holds) return;
    if (this.#away >= this.#count) {
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

  #markOverdue(seat: Seat, end: () => void): Disposable {
    this.#overdue.set(seat, end);
    this.#makeOverdueEnd();
    return { [Symbol.dispose]: () => this.#overdue.delete(seat) };
  }

  /** One for each that waits, the one that has been overdue for longest first. */
  #makeOverdueEnd(): void {
    const waiting = this.#line.difference(this.#ending).size;
    for (const [seat, end] of this.#overdue) {
      if (this.#ending.size >= waiting) return;
      this.#overdue.delete(seat);
      this.#ending.add(seat);
      end();
    }
  }

  #end(seat: Seat): void {
    this.#leaving.delete(seat);
    this.#overdue.delete(seat);
    this.#ending.delete(seat);
    this.#line.delete(seat);
    this.#comeBack(seat);
    this.#giveUp(seat);
  }

  #giveUp(seat: Seat): void {
    if (!seat.holds) return;
    seat.holds = false;
    this.#free += 1;
    const held = this.#heldBy(seat) - 1;
    if (held > 0) this.#held.set(seat.group, held);
    else this.#held.delete(seat.group);
    this.#fillPlaces();
  }
}
