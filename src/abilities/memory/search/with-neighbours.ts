import { estimateTextTokens } from "../../../lib/text/text-tokens.ts";
import { indexedText } from "../text/indexed-text.ts";
import type { Found, Memory } from "../../../processes/memory-schemas.ts";

/** Minimum number of results: a small budget cuts each, not the list. */
const leastItems = 5;

/** The best ones whose texts fit into the budget. */
export function withinBudget(found: readonly Found[], tokens: number): Found[] {
  const kept: Found[] = [];
  let left = tokens;
  for (const one of found) {
    left -= estimateTextTokens(indexedText(one.memory));
    if (left < 0) break;
    kept.push(one);
  }
  return kept;
}

/** A memory that is recalled. */
export interface Recalled {
  readonly memory: Memory;
  /** Found itself; otherwise it is here because it was said just before or after one that was. */
  readonly isHit: boolean;
}

/**
 * The best memories with what was said just before and after each, merged, in the order in which they were said, within
 * the budget: the best come first into it, at least five of them, each with its neighbours where there is room.
 */
export function recallFrom(
  found: readonly Found[],
  beside: (id: string) => readonly Memory[],
  tokens: number,
  textOf: (memory: Memory) => string = indexedText,
): Recalled[] {
  const chosen = new Map<string, Recalled>();
  let left = tokens;
  const take = (memory: Memory, isHit: boolean, isForced: boolean): void => {
    if (chosen.has(memory.id)) {
      if (isHit) chosen.set(memory.id, { memory, isHit });
      return;
    }
    const cost = estimateTextTokens(textOf(memory));
    if (cost > left && !isForced) return;
    left -= cost;
    chosen.set(memory.id, { memory, isHit });
  };
  for (const [place, { memory }] of found.entries()) {
    if (left <= 0 && place >= leastItems) break;
    take(memory, true, place < leastItems);
    for (const other of beside(memory.id)) take(other, false, false);
  }
  return [...chosen.values()].toSorted((one, other) => one.memory.time - other.memory.time);
}
