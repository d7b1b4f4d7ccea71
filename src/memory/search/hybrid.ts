import type { Filter } from "../item.ts";
import type { HotIndex } from "../index/hot-index.ts";
import type { PackedVectors } from "../index/packed-vectors.ts";

/** What each of the scores counts. */
export interface Weights {
  readonly vector: number;
  readonly text: number;
  /** Of the better one of what was said just before and just after. */
  readonly neighbour: number;
}

/** A query as it is compared. */
export interface Query {
  readonly terms: readonly string[];
  readonly isHan: boolean;
  /** Of the model of the index; none: by words only. */
  readonly vector?: Float32Array | undefined;
  /** The model was made for English: it says little about Chinese. */
  readonly isEnglishModel: boolean;
}

export interface ScoredSlot {
  readonly slot: number;
  readonly score: number;
}

/** What the vector counts at most where the query or the memory is Chinese and the model is not. */
const mostAcrossLanguages = 0.2;
/** Between a question and its answer there is often one more turn: what was said two turns away counts as a neighbour for this much. */
const furtherShare = 0.6;
/** Memories that were said further apart than this do not belong together. */
const neighbourMs = 6 * 60 * 60 * 1000;

/**
 * The best slots. Each has the true score of its words and of its vector, both brought to 0 … 1, weighted, and with a share of
 * its better neighbour; of equals the newer one comes first. A memory that has no vector yet is judged by its words alone, as if its vector
 * said the same.
 */
export function searchIndex(
  index: HotIndex,
  query: Query,
  options: { readonly filter: Filter; readonly weights: Weights; readonly limit: number },
): ScoredSlot[] {
  const own = ownScores(index, query, options.weights);
  const order = index.order();
  const { neighbour } = options.weights;
  const isWanted = wanted(index, options.filter);
  const best = new Best(options.limit);
  for (let rank = 0; rank < order.length; rank += 1) {
    const slot = order[rank] ?? 0;
    if (!isWanted(slot)) continue;
    const next = Math.max(beside(index, own, slot, order[rank - 1]), beside(index, own, slot, order[rank + 1]));
    const further = Math.max(beside(index, own, slot, order[rank - 2]), beside(index, own, slot, order[rank + 2]));
    const better = Math.max(next, furtherShare * further);
    const score = (own[slot] ?? 0) + neighbour * better;
    if (score > 0) best.offer(slot, score);
  }
  return best.taken();
}

function beside(index: HotIndex, own: Float64Array, slot: number, other: number | undefined): number {
  if (other === undefined || index.isSuperseded[other] === true) return 0;
  const apart = Math.abs((index.times[slot] ?? 0) - (index.times[other] ?? 0));
  return apart <= neighbourMs ? (own[other] ?? 0) : 0;
}

function wanted({ times, senders, isSuperseded }: HotIndex, filter: Filter): (slot: number) => boolean {
  const lower = { ...filter, who: filter.who?.toLowerCase() };
  return (slot) =>
    isSuperseded[slot] !== true && isInFilter({ time: times[slot] ?? 0, sender: senders[slot] ?? "" }, lower);
}

/** `sender` in small letters. */
export function isInFilter(
  { time, sender }: { readonly time: number; readonly sender: string },
  filter: Filter,
): boolean {
  const { since, until, who } = filter;
  if (since !== undefined && time < since) return false;
  if (until !== undefined && time >= until) return false;
  return who === undefined || sender === who.toLowerCase();
}

/** The score of every slot by itself. Plain loops: there may be a hundred thousand. */
function ownScores(index: HotIndex, query: Query, weights: Weights): Float64Array {
  const words = index.postings.scores(query.terms);
  scale(words);
  const { vectors } = index;
  if (query.vector === undefined || vectors === undefined || vectors.known === 0) return words;
  const close = vectors.products(query.vector);
  const { least, width } = rangeOf(close, vectors);
  const whole = weights.vector + weights.text;
  const acrossLanguages = Math.min(weights.vector, mostAcrossLanguages);
  for (let slot = 0; slot < words.length; slot += 1) {
    const isAcross = query.isEnglishModel && (query.isHan || index.isHan[slot] === true);
    const share = !vectors.has(slot) ? 0 : isAcross ? acrossLanguages : weights.vector;
    const meaning = width === 0 ? 0 : ((close[slot] ?? 0) - least) / width;
    words[slot] = share * meaning + (whole - share) * (words[slot] ?? 0);
  }
  return words;
}

/** Brings scores to 0 … 1. */
function scale(scores: Float64Array): void {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  if (most === 0) return;
  for (let slot = 0; slot < scores.length; slot += 1) scores[slot] = (scores[slot] ?? 0) / most;
}

function rangeOf(products: Float32Array, vectors: PackedVectors): { readonly least: number; readonly width: number } {
  let least = Infinity;
  let most = -Infinity;
  for (let slot = 0; slot < products.length; slot += 1) {
    if (!vectors.has(slot)) continue;
    const product = products[slot] ?? 0;
    if (product < least) least = product;
    if (product > most) most = product;
  }
  return { least, width: most > least ? most - least : 0 };
}

/** The best so many of what is offered; of equals the one that was offered later. */
class Best {
  readonly #limit: number;
  /** Best first. */
  readonly #slots: ScoredSlot[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(slot: number, score: number): void {
    const worst = this.#slots.at(-1);
    const isFull = this.#slots.length >= this.#limit;
    if (isFull && (worst === undefined || score < worst.score)) return;
    if (isFull) this.#slots.pop();
    let place = this.#slots.length;
    while (place > 0 && score >= (this.#slots[place - 1]?.score ?? Infinity)) place -= 1;
    this.#slots.splice(place, 0, { slot, score });
  }

  taken(): ScoredSlot[] {
    return this.#slots;
  }
}
