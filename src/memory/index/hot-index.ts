import { PackedVectors } from "./packed-vectors.ts";
import { Postings } from "./postings.ts";

/** What the index knows of a memory; the text stays in the file. */
export interface IndexRow {
  readonly seq: number;
  readonly time: number;
  readonly sender: string;
  readonly terms: ReadonlyMap<string, number>;
  readonly isHan: boolean;
  readonly isSuperseded: boolean;
  /** Of the model that the index is for. */
  readonly vector?: Float32Array | undefined;
}

/** The newest memories of a group, as they are searched: in memory, by slots in the order in which they were added. */
export class HotIndex {
  readonly postings = new Postings();
  readonly vectors: PackedVectors | undefined;
  readonly seqs: number[] = [];
  readonly times: number[] = [];
  /** Small letters. */
  readonly senders: string[] = [];
  readonly isHan: boolean[] = [];
  readonly isSuperseded: boolean[] = [];
  readonly #slots = new Map<number, number>();
  #order: Int32Array | undefined;

  /** Without dimensions there are no vectors. */
  constructor(dimensions: number | undefined) {
    this.vectors = dimensions === undefined ? undefined : new PackedVectors(dimensions);
  }

  get size(): number {
    return this.seqs.length;
  }

  add(row: IndexRow): void {
    const slot = this.seqs.length;
    this.seqs.push(row.seq);
    this.times.push(row.time);
    this.senders.push(row.sender.toLowerCase());
    this.isHan.push(row.isHan);
    this.isSuperseded.push(row.isSuperseded);
    this.postings.add(slot, row.terms);
    this.vectors?.set(slot, row.vector);
    this.#slots.set(row.seq, slot);
    this.#order = undefined;
  }

  /** A vector that was made later; a memory that is not here has none. */
  setVector(seq: number, vector: Float32Array): void {
    const slot = this.#slots.get(seq);
    if (slot !== undefined) this.vectors?.set(slot, vector);
  }

  /** Slots as their memories were said one after another; those of the same time as they were added. */
  order(): Int32Array {
    this.#order ??= Int32Array.from(this.seqs.keys()).toSorted(
      (one, other) => (this.times[one] ?? 0) - (this.times[other] ?? 0) || one - other,
    );
    return this.#order;
  }
}
