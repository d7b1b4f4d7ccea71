import type { MemoryFile, StoredIndexRow } from "../file/memory-file.ts";
import { saturate, weighTerm } from "../index/bm25.ts";
import type { LoadedIndex } from "../index/load-index.ts";
import { type Filter, isInFilter, type Query, scoreAlone, type Weights } from "./hybrid.ts";

/** Maximum matches per word, and number of words: the group's rarest. */
const mostMatches = 100;
const mostWords = 8;

/**
 * Memories before this row, which are too old for the index in memory or not in it yet: found by their words in the
 * file, then judged like all others, but for their neighbours. The best of the index is not known here; their words
 * count against what would be a perfect match.
 */
export function searchOlder(
  file: MemoryFile,
  loaded: LoadedIndex,
  options: { readonly query: Query; readonly filter: Filter; readonly weights: Weights; readonly before: number },
): { readonly seq: number; readonly score: number }[] {
  const { query, filter, weights, before } = options;
  const { postings } = loaded.index;
  const { count, meanLength } = postings.statistics();
  const rare = query.terms.toSorted((one, other) => postings.frequency(one) - postings.frequency(other));
  const weightOf = new Map(query.terms.map((term) => [term, weighTerm(postings.frequency(term), count)]));
  const perfect = [...weightOf.values()].reduce((sum, weight) => sum + weight * saturate(1, 1), 0);
  const matches = new Map<number, StoredIndexRow>();
  for (const term of rare.slice(0, mostWords))
    for (const row of file.matchBefore(before, term, mostMatches)) matches.set(row.seq, row);
  return [...matches.values()].flatMap((stored) => {
    const row = loaded.toIndexRow(stored);
    if (row.isSuperseded || !isInFilter({ id: row.id, time: row.time, sender: row.sender.toLowerCase() }, filter))
      return [];
    const terms = new Map<string, number>();
    row.eachTerm((term, often) => terms.set(term, often));
    const length = [...terms.values()].reduce((sum, often) => sum + often, 0);
    const words = query.terms.reduce((sum, term) => {
      const often = terms.get(term) ?? 0;
      return sum + (weightOf.get(term) ?? 0) * saturate(often, length / meanLength);
    }, 0);
    const text = perfect === 0 ? 0 : Math.min(words / perfect, 1);
    return [{ seq: row.seq, score: scoreAlone((weights.vector + weights.text) * text ** 1.5, weights) }];
  });
}
