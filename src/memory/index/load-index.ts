import type { MemoryFile, StoredIndexRow } from "../file/memory-file.ts";
import { fromBlob, splitTerms } from "../file/rows.ts";
import { HotIndex, type IndexRow } from "./hot-index.ts";
import { bytesPerNumber } from "./packed-vectors.ts";

/** The model whose vectors are compared; none: by words only. */
export interface IndexModel {
  readonly model: string;
  readonly dimensions: number;
}

/** What the index of one group may hold: the newest memories. Older ones are found by their words, in the file. */
const mostRows = 131_072;
const mostVectorBytes = 256 * 1024 * 1024;
const rowsAtOnce = 2_000;

/** How many of a group's memories are kept in memory. */
export function hotRows(model: IndexModel | undefined): number {
  return model === undefined
    ? mostRows
    : Math.min(mostRows, Math.floor(mostVectorBytes / (model.dimensions * bytesPerNumber)));
}

/** What of a file is in memory, and what the file was like then. */
export class LoadedIndex {
  readonly index: HotIndex;
  readonly #file: MemoryFile;
  readonly #model: IndexModel | undefined;
  readonly #rows: number;
  /** Rows before this one are only in the file. */
  readonly first: number;
  readonly #erasures: number;
  #last = 0;
  #version: number;

  constructor(file: MemoryFile, model: IndexModel | undefined, rows: number = hotRows(model)) {
    this.#file = file;
    this.#model = model;
    this.#rows = rows;
    this.#version = file.version();
    this.#erasures = file.erasures();
    this.first = file.firstOfNewest(rows);
    this.index = new HotIndex(model?.dimensions);
    this.#last = this.first - 1;
    this.#append();
  }

  /** Takes in what was added since. False when something was removed or replaced, or too much was added: a new index is needed. */
  refresh(): boolean {
    if (this.#file.erasures() !== this.#erasures) return false;
    const version = this.#file.version();
    this.#append();
    if (version !== this.#version) this.#findVectors();
    this.#version = version;
    return this.index.size <= this.#rows + this.#rows / 8;
  }

  #append(): void {
    for (;;) {
      const rows = this.#file.indexRows(this.#last + 1, rowsAtOnce);
      for (const row of rows) this.index.add(this.toIndexRow(row));
      this.#last = rows.at(-1)?.seq ?? this.#last;
      if (rows.length < rowsAtOnce || this.index.size > this.#rows * 2) return;
    }
  }

  /** Those that another process has made. */
  #findVectors(): void {
    const { vectors, seqs } = this.index;
    if (vectors === undefined || vectors.known === seqs.length) return;
    for (const [slot, seq] of seqs.entries()) {
      if (vectors.has(slot)) continue;
      const [row] = this.#file.indexRows(seq, 1);
      const vector = row?.seq === seq ? this.toIndexRow(row).vector : undefined;
      if (vector !== undefined) this.index.setVector(seq, vector);
    }
  }

  toIndexRow(row: StoredIndexRow): IndexRow {
    const isOurs = this.#model !== undefined && row.model === this.#model.model;
    return {
      seq: row.seq,
      id: row.id,
      time: row.time,
      sender: row.sender,
      terms: splitTerms(row.terms),
      isHan: row.han === 1,
      isSuperseded: row.superseded_by !== null,
      vector: isOurs ? fromBlob(row.vector, this.#model.dimensions) : undefined,
    };
  }
}
