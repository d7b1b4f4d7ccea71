import { type Bm25, saturate, weighTerm } from "./bm25.ts";
import { NumberColumn } from "./number-column.ts";

/** A slot and how often a term occurs in it share a number: most of a group's terms then stay small integers. */
const mostOften = 15;
const countBits = 4;
/** Number of distinguished lengths; longer texts count as the longest. */
const longest = 1_023;

/** Tells each term of a text once, and how often it occurs. */
export type EachTerm = (visit: (term: string, often: number) => void) => void;

/** Which slots hold which terms, and how well they answer a query. */
export class Postings {
  readonly #slotsOf = new Map<string, number[]>();
  readonly #lengths = new NumberColumn(Uint16Array);
  #total = 0;

  /** Slots are added in their order. */
  add(slot: number, eachTerm: EachTerm): void {
    let length = 0;
    eachTerm((term, count) => {
      const often = Math.min(count, mostOften);
      length += often;
      const entry = (slot << countBits) | often;
      const slots = this.#slotsOf.get(term);
      if (slots === undefined) this.#slotsOf.set(term, [entry]);
      else slots.push(entry);
    });
    this.#lengths.push(Math.min(length, longest));
    this.#total += length;
  }

  /** Number of slots with the term. */
  frequency(term: string): number {
    return this.#slotsOf.get(term)?.length ?? 0;
  }

  /** Statistics for scoring texts outside the postings. */
  statistics(): Bm25 {
    const count = this.#lengths.length;
    return { count, meanLength: count === 0 ? 1 : Math.max(this.#total / count, 1) };
  }

  /** The score of every slot. */
  scores(terms: readonly string[]): Float64Array {
    const scores = new Float64Array(this.#lengths.length);
    const { count, meanLength } = this.statistics();
    const lengths = this.#lengths.values;
    const parts = partsBy(meanLength);
    for (const term of terms) {
      const slots = this.#slotsOf.get(term);
      if (slots === undefined) continue;
      const weight = weighTerm(slots.length, count);
      for (let at = 0; at < slots.length; at += 1) {
        const entry = slots[at] ?? 0;
        const slot = entry >> countBits;
        const part = parts[((lengths[slot] ?? 0) << countBits) | (entry & mostOften)] ?? 0;
        scores[slot] = (scores[slot] ?? 0) + weight * part;
      }
    }
    return scores;
  }
}

/** Score of a term for each text length and number of occurrences. */
function partsBy(meanLength: number): Float64Array {
  const parts = new Float64Array((longest + 1) << countBits);
  for (let length = 0; length <= longest; length += 1)
    for (let often = 1; often <= mostOften; often += 1)
      parts[(length << countBits) | often] = saturate(often, length / meanLength);
  return parts;
}
