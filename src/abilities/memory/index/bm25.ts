/** Statistics that a text's score depends on. */
export interface Bm25 {
  /** Number of texts. */
  readonly count: number;
  /** Average number of terms. */
  readonly meanLength: number;
}

/** Saturation of repeated terms, and the penalty for long texts. */
const saturation = 0.9;
const lengthShare = 0.4;

/** A rare term says more; never negative. */
export function weighTerm(frequency: number, count: number): number {
  return Math.log(1 + (Math.max(count - frequency, 0) + 0.5) / (frequency + 0.5));
}

/** `relativeLength`: that of the text against the mean. */
export function saturate(often: number, relativeLength: number): number {
  return (often * (saturation + 1)) / (often + saturation * (1 - lengthShare + lengthShare * relativeLength));
}
