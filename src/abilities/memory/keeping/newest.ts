import type { Memory } from "../../../processes/memory-schemas.ts";

const mostChars = 60_000;
/** Maximum characters of each shown text. */
const mostTextChars = 2_000;

/** The newest messages that fit into one prompt, in order. */
export function newestOf<Said extends Pick<Memory, "text">>(said: readonly Said[]): Said[] {
  let left = mostChars;
  const from = said.findLastIndex(({ text }) => (left -= Math.min(text.length, mostTextChars)) < 0);
  return said.slice(from + 1);
}
