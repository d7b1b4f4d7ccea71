/** What the score of a text depends on besides the text. */
export interface Bm25 {
  /** How many texts there are. */
  readonly count: number;
  /** How many terms they have on average. */
  readonly meanLength: number;
}

/** How fast a term that is said again stops to count, and how much a long text is held against it. */
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
