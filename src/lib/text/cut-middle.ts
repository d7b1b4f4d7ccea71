/**
 * The beginning and the end of a text, and how many UTF-16 units between them were left out. Never splits a pair of
 * surrogates.
 */
export interface CutText {
  readonly head: string;
  readonly tail: string;
  readonly omitted: number;
}

/** Cuts the middle out of a text that is longer than `maxChars`; a shorter one comes back whole as `head`. */
export function cutMiddle(text: string, maxChars: number): CutText {
  if (text.length <= maxChars) return { head: text, tail: "", omitted: 0 };
  let headEnd = Math.ceil(maxChars / 2);
  let tailStart = text.length - Math.floor(maxChars / 2);
  if (splitsPair(text, headEnd)) headEnd -= 1;
  if (splitsPair(text, tailStart)) tailStart += 1;
  return { head: text.slice(0, headEnd), tail: text.slice(tailStart), omitted: tailStart - headEnd };
}

function splitsPair(text: string, index: number): boolean {
  return isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
