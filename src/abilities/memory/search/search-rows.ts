import type { MemoryFile } from "../file/memory-file.ts";
import type { LoadedIndex } from "../index/load-index.ts";
import { type Filter, type Query, searchIndex, type Weights } from "./hybrid.ts";
import { searchOlder } from "./older.ts";

interface SearchedRow {
  readonly seq: number;
  readonly score: number;
}

interface How {
  readonly query: Query;
  readonly filter: Filter;
  readonly weights: Weights;
  readonly limit: number;
}

/** The best rows of a memory: those in its index, and older ones by their words. */
export function searchRows(file: MemoryFile, loaded: LoadedIndex, how: How): SearchedRow[] {
  const { seqs } = loaded.index;
  const hot = searchIndex(loaded.index, how.query, how).map(({ slot, score }) => ({ seq: seqs[slot] ?? 0, score }));
  const older = loaded.first <= 1 ? [] : searchOlder(file, loaded, { ...how, before: loaded.first });
  return best([...hot, ...older], how.limit);
}

/**
 * The same where the index is not whole yet: by words, in the file. What is in the index by now says how rare they are.
 */
export function searchRowsByWords(file: MemoryFile, loaded: LoadedIndex, how: How): SearchedRow[] {
  return best(searchOlder(file, loaded, { ...how, before: Number.MAX_SAFE_INTEGER }), how.limit);
}

function best(rows: readonly SearchedRow[], limit: number): SearchedRow[] {
  return rows.toSorted((one, other) => other.score - one.score).slice(0, limit);
}
