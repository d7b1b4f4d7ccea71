import type { WorkSlot } from "../../domain/work/work-slot.ts";
import { rejectAt } from "../../lib/time/reject-at.ts";

/** Work that has held its place for this long lets others that wait go first, before its next piece. */
const sliceMs = 10_000;
/** Number of slots in a row for awaited work, after which other queued work gets one. */
const mostInARow = 8;
/** Part of the slots that is kept for work that people wait for, and that one group's other work may have at most. */
const share = 1 / 4;

interface Seat {
  readonly group: string;
  /** True when people wait for it. */
  readonly isAwaited: () => boolean;
  /** Resolved when the seat gets a place; undefined while it does not stand in line. */
  turn: PromiseWithResolvers<void> | undefined;
  /** True when nobody waited for it as it last got a place. */
  isOwn: boolean;
  holds: boolean;
  since: number;
}

/**
 * Slots in which sessions work. A free slot goes to awaited work, but each ninth to other work: then to the group that
 * holds the fewest, among those to the one served longest ago, and in a group to its longest-waiting session. Work that
 * only waits, as for its tools, gives its slot to the next in line and queues again when it continues. As many may be
 * away as there are slots, so at most twice as many are under way. Beyond that, the one that is longest overdue is told
 * to end.
 *
 * People come first: a quarter of the slots, and of those who may be away, is for awaited work alone, and the other
 * work of one group has a quarter at most. With a single slot both have it in turn.
 */
export class WorkSlots {
  readonly #count: number;
  /** Milliseconds on a clock that only runs forward. */
  readonly #now: () => number;
  /** In the order of asking. */
  readonly #line = new Set<Seat>();
  /** WorkSlots held, by group. */
  readonly #held = new Map<string, number>();
  /** Those of them that nobody waits for. */
  readonly #own = new Map<string, number>();
  /** Most of these for one group, and for all together. */
  readonly #mostOfGroup: number;
  readonly #mostOwn: number;
  #ownInAll = 0;
  /** Order in which groups last got a slot, since nobody held one. */
  readonly #given = new Map<string, number>();
  #gifts = 0;
  /** WorkSlots given in a row to work that people wait for, while other work stood in line. */
  #inARow = 0;
  #free: number;
  readonly #away = new Set<Seat>();
  /** Sessions that would leave if fewer were away. */
  readonly #leaving = new Set<Seat>();
  readonly #overdue = new Map<Seat, () => void>();
  /** Told to end, and still there: their tools may be over before they are. */
  readonly #ending = new Set<Seat>();

  constructor(options: { readonly count: number; readonly now: () => number }) {
    this.#count = options.count;
    this.#free = options.count;
    this.#mostOfGroup = Math.max(1, Math.floor(options.count * share));
    this.#mostOwn = Math.max(1, options.count - this.#mostOfGroup);
    this.#now = options.now;
  }

  /** A place for work of this group, as soon as it is its turn. `isAwaited` is asked whenever a place is free. */
  async enter(group: string, isAwaited: () => boolean = () => false): Promise<WorkSlot> {
    const seat: Seat = { group, isAwaited, turn: undefined, isOwn: false, holds: false, since: 0 };
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
      seat.isOwn = !seat.isAwaited();
      add(this.#held, seat.group, 1);
      if (seat.isOwn) this.#countOwn(seat, 1);
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
      else if (this.#mayHold(seat)) other = !other || this.#isBefore(seat, other) ? seat : other;
    }
    if (!awaited || !other) {
      this.#inARow = 0;
      return awaited ?? other;
    }
    this.#inARow = (this.#inARow + 1) % (mostInARow + 1);
    return this.#inARow === 0 ? other : awaited;
  }

  /** May work that nobody waits for have one more slot? */
  #mayHold(seat: Seat): boolean {
    return this.#ownInAll < this.#mostOwn && !this.#isServed(seat);
  }

  #countOwn({ group }: Seat, change: 1 | -1): void {
    add(this.#own, group, change);
    this.#ownInAll += change;
  }

  /** Has its group as many slots as it may have for what nobody waits for? */
  #isServed({ group }: Seat): boolean {
    return (this.#own.get(group) ?? 0) >= this.#mostOfGroup;
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
    if (!this.#mayBeAway(seat)) {
      this.#leaving.add(seat);
      return;
    }
    this.#leaving.delete(seat);
    this.#away.add(seat);
    this.#giveUp(seat);
  }

  #mayBeAway({ isOwn }: Seat): boolean {
    if (this.#away.size >= this.#count) return false;
    return !isOwn || [...this.#away].filter((seat) => seat.isOwn).length < this.#mostOwn;
  }

  #comeBack(seat: Seat): void {
    if (!this.#away.delete(seat)) return;
    const next = [...this.#leaving].find((one) => this.#mayBeAway(one));
    if (next) this.#leave(next);
  }

  #markOverdue(seat: Seat, end: () => void): Disposable {
    this.#overdue.set(seat, end);
    this.#makeOverdueEnd();
    return { [Symbol.dispose]: () => this.#overdue.delete(seat) };
  }

  /**
   * One for each that waits, the one that has been overdue for longest first. Who waits for its own group alone makes
   * nobody end.
   */
  #makeOverdueEnd(): void {
    if (this.#overdue.size === 0) return;
    const line = [...this.#line.difference(this.#ending)];
    const waiting = line.filter((seat) => seat.isAwaited() || !this.#isServed(seat)).length;
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
    add(this.#held, seat.group, -1);
    if (seat.isOwn) this.#countOwn(seat, -1);
    this.#fillPlaces();
  }
}

/** Changes a count; one of nothing is left out. */
function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
