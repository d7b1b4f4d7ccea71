import { NumberColumn } from "./number-column.ts";
import { type EachTerm, Postings } from "./postings.ts";
import type { Vectors } from "./vectors/vectors.ts";

/** Indexed facts of a memory; the text stays in the file. */
export interface IndexRow {
  readonly seq: number;
  readonly id: string;
  readonly time: number;
  readonly sender: string;
  readonly eachTerm: EachTerm;
  readonly isHan: boolean;
  readonly isSuperseded: boolean;
  /** Vector of the index's model. */
  readonly vector?: Float32Array | undefined;
}

/** Memories that were said further apart than this do not belong together. */
const neighbourMs = 6 * 60 * 60 * 1000;

/** The newest memories of a group, as they are searched: in memory, by slots in the order in which they were added. */
export class HotIndex {
  readonly postings = new Postings();
  readonly vectors: Vectors | undefined;
  readonly seqs: number[] = [];
  readonly ids: string[] = [];
  /** Small letters. */
  readonly senders: string[] = [];
  readonly #times = new NumberColumn(Float64Array);
  readonly #isHan = new NumberColumn(Uint8Array);
  readonly #isSuperseded = new NumberColumn(Uint8Array);
  readonly #slots = new Map<number, number>();
  #timeline: Timeline | undefined = new Timeline();

  constructor(vectors?: Vectors) {
    this.vectors = vectors;
  }

  get size(): number {
    return this.seqs.length;
  }

  get times(): Float64Array {
    return this.#times.values;
  }

  /** 1: mostly Chinese. */
  get isHan(): Uint8Array {
    return this.#isHan.values;
  }

  /** 1: another one took its place. */
  get isSuperseded(): Uint8Array {
    return this.#isSuperseded.values;
  }

  add(row: IndexRow): void {
    const slot = this.seqs.length;
    this.seqs.push(row.seq);
    this.ids.push(row.id);
    this.#times.push(row.time);
    this.senders.push(row.sender.toLowerCase());
    this.#isHan.push(row.isHan ? 1 : 0);
    this.#isSuperseded.push(row.isSuperseded ? 1 : 0);
    this.postings.add(slot, row.eachTerm);
    this.vectors?.set(slot, row.vector);
    this.#slots.set(row.seq, slot);
    // What is said now comes last; what is imported may lie anywhere.
    if (this.#timeline?.add(slot, row.time) === false) this.#timeline = undefined;
  }

  /** A vector that was made later; a memory that is not here has none. */
  setVector(seq: number, vector: Float32Array): void {
    const slot = this.#slots.get(seq);
    if (slot !== undefined) this.vectors?.set(slot, vector);
  }

  /** Slots as their memories were said one after another; those of the same time as they were added. */
  timeline(): Timeline {
    if (this.#timeline) return this.#timeline;
    const times = this.#times.values;
    const slots = Int32Array.from(this.seqs.keys()).toSorted(
      (one, other) => (times[one] ?? 0) - (times[other] ?? 0) || one - other,
    );
    this.#timeline = new Timeline();
    for (const slot of slots) this.#timeline.add(slot, times[slot] ?? 0);
    return this.#timeline;
  }
}

/** Slots in the order of their times. */
export class Timeline {
  readonly #slots = new NumberColumn(Int32Array);
  readonly #goesOn = new NumberColumn(Uint8Array);
  #last = -Infinity;

  get slots(): Int32Array {
    return this.#slots.values;
  }

  /** 1: it was said soon after the one before it. */
  get goesOn(): Uint8Array {
    return this.#goesOn.values;
  }

  /** False where it would not be the last one. */
  add(slot: number, time: number): boolean {
    if (time < this.#last) return false;
    this.#slots.push(slot);
    this.#goesOn.push(time - this.#last <= neighbourMs ? 1 : 0);
    this.#last = time;
    return true;
  }
}
