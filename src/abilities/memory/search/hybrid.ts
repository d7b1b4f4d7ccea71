import type { MemorySettings } from "../config.ts";
import type { SearchOptions } from "../../../processes/memory-schemas.ts";
import type { HotIndex } from "../index/hot-index.ts";
import { Best, type ScoredSlot } from "./best.ts";

/** Which memories count in a search. */
export interface Filter extends Pick<SearchOptions, "since" | "until" | "who"> {
  /** True for memories to leave out. */
  readonly isHidden?: ((memory: { readonly id: string; readonly time: number }) => boolean) | undefined;
}

/** Weights of the scores. */
export type Weights = MemorySettings["weights"];

/** A query as it is compared. */
export interface Query {
  readonly terms: readonly string[];
  /** Known word scores of the current index, from `wordScores`. */
  readonly words?: Float64Array | undefined;
  readonly isHan: boolean;
  /** Query vector and its products with the index's vectors; none: by words only. */
  readonly meaning?: { readonly vector: Float32Array; readonly products: Float32Array } | undefined;
  /** The model was made for English: it says little about Chinese. */
  readonly isEnglishModel: boolean;
}

/** Maximum weight of the vector when query or memory is Chinese and the model is not. */
const mostAcrossLanguages = 0.2;
/**
 * Between a question and its answer there is often one more turn: what was said two turns away counts as a neighbour
 * for this much.
 */
const furtherShare = 0.6;
/** Weight of a conversation's best message relative to a neighbor, and its decay per message. */
const conversationShare = 2;
const fade = 0.96;
/**
 * Number of top candidates by rounded vectors that are compared exactly; docs/memory.md has the same figures with
 * 1,000.
 */
const mostExact = 256;

/**
 * The best slots. Each has the score of its words and of its vector, both brought to 0 … 1, raised, weighted, with a
 * share of its better neighbour and of the best that was said around it in the same conversation; of equals the newer
 * one comes first. A memory that has no vector yet is judged by its words alone, as if its vector said the same.
 */
export function searchIndex(
  index: HotIndex,
  query: Query,
  options: { readonly filter: Filter; readonly weights: Weights; readonly limit: number },
): ScoredSlot[] {
  const { slots, goesOn } = index.timeline();
  const own = inOrder(ownScores(index, query, options.weights), slots, index);
  const before = saidBefore(own, goesOn);
  const { neighbour } = options.weights;
  const isWanted = wanted(index, options.filter);
  const best = new Best(options.limit);
  let next = 0;
  let further = 0;
  let conversation = 0;
  // The newest first, because the first of equals stays.
  for (let rank = own.length - 1; rank >= 0; rank -= 1) {
    const score = own[rank] ?? 0;
    conversation = larger(conversation * fade, score);
    const beside = larger(before.beside[rank] ?? 0, larger(next, furtherShare * further));
    const around = larger(before.conversation[rank] ?? 0, conversation);
    const total = score + neighbour * (beside + conversationShare * around);
    const slot = slots[rank] ?? 0;
    if (total > best.least && isWanted(slot)) best.offer(slot, total);
    const isSame = goesOn[rank] === 1;
    further = isSame ? next : 0;
    next = isSame ? score : 0;
    if (!isSame) conversation = 0;
  }
  return best.taken();
}

/** For each what is better of the two before it, and the best of its conversation up to it. */
function saidBefore(
  own: Float64Array,
  goesOn: Uint8Array,
): { readonly beside: Float64Array; readonly conversation: Float64Array } {
  const beside = new Float64Array(own.length);
  const best = new Float64Array(own.length);
  let last = 0;
  let further = 0;
  let conversation = 0;
  for (let rank = 0; rank < own.length; rank += 1) {
    const isSame = goesOn[rank] === 1;
    const score = own[rank] ?? 0;
    conversation = larger(isSame ? conversation * fade : 0, score);
    best[rank] = conversation;
    beside[rank] = isSame ? larger(last, furtherShare * further) : 0;
    further = isSame ? last : 0;
    last = score;
  }
  return { beside, conversation: best };
}

/** `Math.max` without its care for what is no number, which takes twice as long. */
function larger(one: number, other: number): number {
  return one > other ? one : other;
}

/** Scores in order; superseded memories do not support their neighbors. */
function inOrder(own: Float64Array, slots: Int32Array, { isSuperseded }: HotIndex): Float64Array {
  const ordered = new Float64Array(own.length);
  for (let rank = 0; rank < own.length; rank += 1) {
    const slot = slots[rank] ?? 0;
    if (isSuperseded[slot] !== 1) ordered[rank] = own[slot] ?? 0;
  }
  return ordered;
}

/** The score of a memory that nothing is said around, as `searchIndex` would score it; `own`: its own, 0 … 1. */
export function scoreAlone(own: number, { neighbour }: Weights): number {
  return own * (1 + neighbour * conversationShare);
}

function wanted({ ids, times, senders, isSuperseded }: HotIndex, filter: Filter): (slot: number) => boolean {
  const lower = { ...filter, who: filter.who?.toLowerCase() };
  return (slot) => {
    if (isSuperseded[slot] === 1) return false;
    return isInFilter({ id: ids[slot] ?? "", time: times[slot] ?? 0, sender: senders[slot] ?? "" }, lower);
  };
}

/** `sender` in small letters. */
export function isInFilter(
  { id, time, sender }: { readonly id: string; readonly time: number; readonly sender: string },
  { since = -Infinity, until = Infinity, who, isHidden }: Filter,
): boolean {
  if (time < since || time >= until) return false;
  if (who !== undefined && sender !== who.toLowerCase()) return false;
  return isHidden?.({ id, time }) !== true;
}

/** Word score of every slot, 0 … 1. */
export function wordScores({ postings }: Pick<HotIndex, "postings">, terms: readonly string[]): Float64Array {
  const words = postings.scores(terms);
  scale(words);
  return words;
}

/** The score of every slot by itself. Plain loops: there may be a hundred thousand. */
function ownScores(index: HotIndex, query: Query, weights: Weights): Float64Array {
  const words = query.words?.length === index.size ? query.words : wordScores(index, query.terms);
  const { vectors } = index;
  if (query.meaning === undefined || vectors === undefined || vectors.known === 0) return words;
  const { vector, products } = query.meaning;
  const judge: Judge = { shareOf: sharesOf(query, weights), whole: weights.vector + weights.text, words, index };
  const range = rangeOf(products, vectors.isKnown);
  const scores = roundedScores(judge, vectors.isKnown, products, range);
  makeExact(scores, judge, (slot) => {
    if (!vectors.has(slot)) return undefined;
    // It may lie a little outside of the rounded ones.
    return Math.min(Math.max((vectors.product(slot, vector) - range.least) * range.factor, 0), 1);
  });
  return scores;
}

/** Components of a score. */
interface Judge {
  /** Weight of the vector, for memories that are not mostly Chinese and that are. */
  readonly shareOf: readonly [number, number];
  /** Weight of vector and words together. */
  readonly whole: number;
  readonly words: Float64Array;
  readonly index: HotIndex;
}

function roundedScores(
  { shareOf, whole, words, index }: Judge,
  isKnown: Uint8Array,
  products: Float32Array,
  { least, factor }: Range,
): Float64Array {
  const { isHan } = index;
  const [plain, han] = shareOf;
  const scores = new Float64Array(words.length);
  for (let slot = 0; slot < words.length; slot += 1) {
    const share = isKnown[slot] !== 1 ? 0 : isHan[slot] === 1 ? han : plain;
    const meaning = share === 0 ? 0 : ((products[slot] ?? 0) - least) * factor;
    scores[slot] = share * meaning * Math.sqrt(meaning) + (whole - share) * (words[slot] ?? 0);
  }
  return scores;
}

/** The best ones again, by what their vectors say exactly. */
function makeExact(
  scores: Float64Array,
  { shareOf, whole, words, index }: Judge,
  meaningOf: (slot: number) => number | undefined,
): void {
  const reached = leastOfBest(scores, whole, mostExact);
  for (let slot = 0; slot < scores.length; slot += 1) {
    if ((scores[slot] ?? 0) < reached) continue;
    const meaning = meaningOf(slot);
    if (meaning === undefined) continue;
    const share = shareOf[index.isHan[slot] === 1 ? 1 : 0];
    scores[slot] = share * raise(meaning) + (whole - share) * (words[slot] ?? 0);
  }
}

/** Weight of the vector for memories that are not mostly Chinese, and that are. */
function sharesOf(query: Query, { vector }: Weights): readonly [number, number] {
  const across = Math.min(vector, mostAcrossLanguages);
  if (!query.isEnglishModel) return [vector, vector];
  return query.isHan ? [across, across] : [vector, across];
}

/** Emphasizes high scores: twice the fit counts more than double. */
function raise(score: number): number {
  return score * Math.sqrt(score);
}

/** Brings scores to 0 … 1. */
function scale(scores: Float64Array): void {
  let most = 0;
  for (let slot = 0; slot < scores.length; slot += 1) most = Math.max(most, scores[slot] ?? 0);
  if (most === 0) return;
  for (let slot = 0; slot < scores.length; slot += 1) {
    const score = scores[slot] ?? 0;
    if (score > 0) scores[slot] = raise(score / most);
  }
}

/** The least product, and what to take the others times to bring them to 0 … 1. */
interface Range {
  readonly least: number;
  readonly factor: number;
}

function rangeOf(products: Float32Array, isKnown: Uint8Array): Range {
  let least = Infinity;
  let most = -Infinity;
  for (let slot = 0; slot < products.length; slot += 1) {
    if (isKnown[slot] !== 1) continue;
    const product = products[slot] ?? 0;
    if (product < least) least = product;
    if (product > most) most = product;
  }
  return { least, factor: most > least ? 1 / (most - least) : 0 };
}

const steps = 1_024;

/** A score that about `count` of them reach, by counting; none is above `most`. */
function leastOfBest(scores: Float64Array, most: number, count: number): number {
  if (scores.length <= count) return 0;
  const reached = new Uint32Array(steps + 1);
  for (let slot = 0; slot < scores.length; slot += 1) {
    const step = Math.floor(((scores[slot] ?? 0) / most) * steps);
    reached[step] = (reached[step] ?? 0) + 1;
  }
  let left = count;
  for (let step = steps; step > 0; step -= 1) {
    left -= reached[step] ?? 0;
    if (left <= 0) return (step / steps) * most;
  }
  return 0;
}
