import { steeringCharacter, unseenCharacter } from "./hidden-characters.ts";

/** Characters of a name, all told; longer ones end with "…". */
const nameChars = 40;
const sentenceChars = 400;

const foreign = /[^\p{L}\p{M}\p{N}\p{Extended_Pictographic}'’-]/gu;
/**
 * Marks without a letter would sit on what stands before them; more than three on one letter reach into other lines.
 */
const straying = /(?<![\p{L}\p{N}\p{M}\p{Extended_Pictographic}])\p{M}+|(?<=\p{M}{3})\p{M}+/gu;

/**
 * A name or title that somebody chose, in quotation marks, for a text of the host: `"Ann"`. One line of at most 40
 * letters, digits and pictures, so that no platform finds a mention, a link or markup in it, nothing in it hides or
 * turns the line around, and no reader takes it for the host. `unnamed`, without quotation marks, where nothing is
 * left.
 */
export function quotedName(text: string, unnamed = "somebody"): string {
  const words = tidy(text)
    .normalize("NFKC")
    .replaceAll(unseenCharacter, "")
    .replaceAll(foreign, " ")
    .replaceAll(straying, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(words) ? `"${shortened(words, nameChars)}"` : unnamed;
}

/**
 * A sentence that may hold words from outside, such as a vendor's reason, for a notice of the host: one line that
 * mentions nobody, without markup and without hidden characters.
 */
export function plainSentence(text: string): string {
  const words = tidy(text)
    .replaceAll(steeringCharacter, " ")
    .replaceAll(unseenCharacter, "")
    .replaceAll(/[@＠﹫]/gu, " at ")
    .replaceAll(/[*`~|<>＜＞[\]#]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, " ")
    .replaceAll(straying, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return shortened(words, sentenceChars);
}

/** Cut first: a name of a megabyte is not worth a look at each of its characters. */
function tidy(text: string): string {
  return text.slice(0, 4 * sentenceChars).toWellFormed();
}

function shortened(words: string, maxChars: number): string {
  const characters = Array.from(words);
  if (characters.length <= maxChars) return words;
  return `${characters
    .slice(0, maxChars - 1)
    .join("")
    .trimEnd()}…`;
}
