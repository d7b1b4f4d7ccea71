import { datesIn } from "./dates.ts";
import { toSimplified } from "./simplified.ts";
import { stem } from "./stem.ts";
import { stopWords } from "./stop-words.ts";

/** Indexed characters of a text. The rest is kept, but not found by words. */
const indexedChars = 20_000;
const mostTerms = 4_000;
const mostQueryTerms = 64;
const longestTerm = 40;

/** Scripts that put no blanks between words, or, as Korean, none between words and what inflects them. */
const unspaced = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("");
const words = new RegExp(`[${unspaced}]+|[[\\p{L}\\p{N}]--[${unspaced}]]+`, "gv");
const startsUnspaced = new RegExp(`^[${unspaced}]`, "v");
const hanCharacter = /\p{Script=Han}/gu;
const anyLetter = /\p{L}/gu;

/**
 * Number of occurrences of each term: word stems, and for Chinese, Japanese, Korean, Thai and the like each character
 * and pair of characters.
 */
export function termsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (term: string): void => {
    if (counts.size < mostTerms || counts.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
  };
  for (const word of wordsOf(text)) {
    if (!startsUnspaced.test(word)) {
      if (!stopWords.has(word)) add(stem(word));
      continue;
    }
    const characters = Array.from(word);
    for (const [index, character] of characters.entries()) {
      add(character);
      const next = characters[index + 1];
      if (next !== undefined) add(character + next);
    }
  }
  return counts;
}

/**
 * The terms that a query looks for: of Chinese and the like the pairs, and a character only where it stands alone; and
 * its dates.
 */
export function queryTermsOf(query: string): readonly string[] {
  const terms = new Set<string>();
  const looked = query.slice(0, indexedChars);
  for (const word of [...wordsOf(looked), ...wordsOf(datesIn(looked))]) {
    if (!startsUnspaced.test(word)) {
      if (!stopWords.has(word)) terms.add(stem(word));
      continue;
    }
    const characters = Array.from(word);
    if (characters.length === 1) terms.add(word);
    for (const [index, character] of characters.slice(1).entries()) terms.add(`${characters[index]}${character}`);
  }
  return [...terms].slice(0, mostQueryTerms);
}

/** True when at least half of the text is Chinese. */
export function isMostlyHan(text: string): boolean {
  const looked = text.slice(0, indexedChars);
  const han = looked.match(hanCharacter)?.length ?? 0;
  return han > 0 && han * 2 >= (looked.match(anyLetter)?.length ?? 0);
}

/**
 * Everything here takes time in proportion to the text. Long runs of combining marks are cut first: putting them in
 * order, which normalizing does, would not.
 */
function wordsOf(text: string): string[] {
  const looked = text.slice(0, indexedChars).replaceAll(/(\p{M}{3})\p{M}+/gu, "$1");
  const folded = looked
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .normalize("NFKC")
    .toLowerCase();
  return (toSimplified(folded).match(words) ?? []).map((word) =>
    startsUnspaced.test(word) ? word : word.slice(0, longestTerm),
  );
}
