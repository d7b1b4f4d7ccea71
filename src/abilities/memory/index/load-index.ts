import type { MemoryFile, StoredIndexRow } from "../file/memory-file.ts";
import { eachTerm, fromBlob } from "../file/rows.ts";
import { HotIndex, type IndexRow } from "./hot-index.ts";
import { vectorStrategies } from "./vectors/catalog.ts";
import type { Vectors } from "./vectors/vectors.ts";

/** The model whose vectors are compared; none: by words only. */
export interface IndexModel {
  readonly model: string;
  readonly dimensions: number;
}

/** Maximum memories in a group's index: the newest. Older ones are found by words in the file. */
const mostRows = 131_072;
const mostVectorBytes = 256 * 1024 * 1024;
const mostBytesPerNumber = Math.max(...vectorStrategies.map(({ bytesPerNumber }) => bytesPerNumber));
/** Rows read between looks at the clock. */
const rowsAtOnce = 100;
/** Rows that are walked along to find out where the newest ones begin. */
const stride = 2_000;

interface LoadedIndexOptions {
  /** Model; none: by words only. */
  readonly model?: IndexModel | undefined;
  /** Storage for the model's vectors. */
  readonly vectors?: Vectors | undefined;
  /** Number of newest rows. */
  readonly rows?: number | undefined;
}

/** Number of a group's memories kept in memory. */
export function hotRows(model: IndexModel | undefined): number {
  return model === undefined
    ? mostRows
    : Math.min(mostRows, Math.floor(mostVectorBytes / (model.dimensions * mostBytesPerNumber)));
}

/**
 * Part of a file in memory, with the file's state at that time. Reads in small pieces, so that a large file blocks
 * nobody.
 */
export class LoadedIndex {
  readonly index: HotIndex;
  readonly #file: MemoryFile;
  readonly #model: IndexModel | undefined;
  readonly #rows: number;
  readonly #erasures: number;
  #first: number | undefined;
  #last = 0;
  #version: number;
  #taking: Generator<void> | undefined;

  /** It holds nothing before `takeIn`. */
  constructor(file: MemoryFile, { model, vectors, rows = hotRows(model) }: LoadedIndexOptions) {
    this.#file = file;
    this.#model = model;
    this.#rows = rows;
    this.#version = file.version();
    this.#erasures = file.erasures();
    this.index = new HotIndex(vectors);
    this.#taking = this.#takeAll();
  }

  /** Rows before this one are only in the file. */
  get first(): number {
    return this.#first ?? 0;
  }

  /** Something was removed or replaced, or too much was added: a new index is needed. */
  get isStale(): boolean {
    return this.#file.erasures() !== this.#erasures || this.index.size > this.#rows + this.#rows / 8;
  }

  /** Takes in what is in the file and not in here, for about so long. True when that is all. */
  takeIn(milliseconds: number): boolean {
    const until = performance.now() + milliseconds;
    this.#taking ??= this.#takeNew();
    while (this.#taking.next().done !== true) if (performance.now() >= until) return false;
    this.#taking = undefined;
    return true;
  }

  *#takeAll(): Generator<void> {
    let first = this.#file.walkBack(undefined, 1);
    for (let left = this.#rows - 1; first !== undefined && left > 0; left -= stride) {
      yield;
      first = this.#file.walkBack(first, Math.min(left, stride));
    }
    this.#first = first ?? 0;
    this.#last = this.#first - 1;
    yield* this.#append();
  }

  *#takeNew(): Generator<void> {
    const version = this.#file.version();
    yield* this.#append();
    if (version !== this.#version) yield* this.#findVectors();
    this.#version = version;
  }

  *#append(): Generator<void> {
    for (;;) {
      const rows = this.#file.indexRows(this.#last + 1, rowsAtOnce);
      for (const row of rows) this.index.add(this.toIndexRow(row));
      this.#last = rows.at(-1)?.seq ?? this.#last;
      if (rows.length < rowsAtOnce || this.index.size > this.#rows * 2) return;
      yield;
    }
  }

  /** Those that another process has made. */
  *#findVectors(): Generator<void> {
    const { vectors, seqs } = this.index;
    if (vectors === undefined || vectors.known === seqs.length) return;
    let looked = 0;
    for (const [slot, seq] of seqs.entries()) {
      if (vectors.has(slot)) continue;
      const [row] = this.#file.indexRows(seq, 1);
      const vector = row?.seq === seq ? this.toIndexRow(row).vector : undefined;
      if (vector !== undefined) this.index.setVector(seq, vector);
      looked += 1;
      if (looked % rowsAtOnce === 0) yield;
    }
  }

  toIndexRow(row: StoredIndexRow): IndexRow {
    const isOurs = this.#model !== undefined && row.model === this.#model.model;
    return {
      seq: row.seq,
      id: row.id,
      time: row.time,
      sender: row.sender,
      eachTerm: (visit) => eachTerm(row.terms, visit),
      isHan: row.han === 1,
      isSuperseded: row.superseded_by !== null,
      vector: isOurs ? fromBlob(row.vector, this.#model.dimensions) : undefined,
    };
  }
}
