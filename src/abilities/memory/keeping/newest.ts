import type { Memory } from "../item.ts";

const mostChars = 60_000;
/** Of each, as it is shown. */
const mostTextChars = 2_000;

/** As much of what was said as there is room for in one question, the newest, in order. */
export function newestOf<Said extends Pick<Memory, "text">>(said: readonly Said[]): Said[] {
  let left = mostChars;
  const from = said.findLastIndex(({ text }) => (left -= Math.min(text.length, mostTextChars)) < 0);
  return said.slice(from + 1);
}
