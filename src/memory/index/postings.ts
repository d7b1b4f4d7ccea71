import { type Bm25, saturate, weighTerm } from "./bm25.ts";

/** A slot and how often a term occurs in it share a number: most of a group's terms then stay small integers. */
const mostOften = 15;
const countBits = 4;

/** Which slots hold which terms, and how well they answer a query. */
export class Postings {
  readonly #slotsOf = new Map<string, number[]>();
  readonly #lengths: number[] = [];
  #total = 0;

  /** Slots are added in their order. */
  add(slot: number, terms: ReadonlyMap<string, number>): void {
    let length = 0;
    for (const [term, count] of terms) {
      const often = Math.min(count, mostOften);
      length += often;
      const entry = (slot << countBits) | often;
      const slots = this.#slotsOf.get(term);
      if (slots === undefined) this.#slotsOf.set(term, [entry]);
      else slots.push(entry);
    }
    this.#lengths[slot] = length;
    this.#total += length;
  }

  /** How many slots hold the term. */
  frequency(term: string): number {
    return this.#slotsOf.get(term)?.length ?? 0;
  }

  /** What a text outside the postings would be scored by. */
  statistics(): Bm25 {
    const count = this.#lengths.length;
    return { count, meanLength: count === 0 ? 1 : Math.max(this.#total / count, 1) };
  }

  /** The score of every slot. */
  scores(terms: readonly string[]): Float64Array {
    const scores = new Float64Array(this.#lengths.length);
    const statistics = this.statistics();
    for (const term of terms) {
      const slots = this.#slotsOf.get(term);
      if (slots === undefined) continue;
      const weight = weighTerm(slots.length, statistics.count);
      for (const entry of slots) {
        const slot = entry >> countBits;
        const length = this.#lengths[slot] ?? 0;
        scores[slot] = (scores[slot] ?? 0) + weight * saturate(entry & mostOften, length / statistics.meanLength);
      }
    }
    return scores;
  }
}
