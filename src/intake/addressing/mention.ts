import { proseOf } from "./prose.ts";
import { characterAt, characterBefore, folded, isInAddress, isOneWord } from "./word-ends.ts";

/**
 * Returns those of the names that the text mentions as `@name`: in any case and width, taken literally, wherever
 * scripts without blanks put it. Not within a longer word (`@crabby`, `@crab-1`, `@crab.io`), an e-mail or network
 * address (`x@crab`, `@crab@example.org`, `example.org/@crab`), code or quoted lines. Where one name begins with
 * another, the longer one is meant.
 */
export function namesMentioned(text: string, names: readonly string[]): string[] {
  if (!/[@＠﹫]/.test(text)) return [];
  const prose = folded(proseOf(text));
  const words = wordsOf(names);
  const found = new Set<string>();
  for (let at = prose.indexOf("@"); at !== -1; at = prose.indexOf("@", at + 1)) {
    const mentioned = words.find(({ word }) => isMentionAt(prose, at, word));
    if (mentioned) found.add(mentioned.name);
  }
  return names.filter((name) => found.has(name));
}

/** Returns those of the names that a transcript contains as words, without `@`. */
export function namesSpoken(transcript: string, names: readonly string[]): string[] {
  const text = folded(transcript);
  const found = new Set<string>();
  for (const { name, word } of wordsOf(names)) {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
      const end = at + word.length;
      const begins = !isOneWord(characterBefore(text, at), characterAt(word, 0));
      if (begins && !isOneWord(characterBefore(text, end), characterAt(text, end))) found.add(name);
    }
  }
  return names.filter((name) => found.has(name));
}

/** The text behind a mention that it begins with, or the text itself; blanks around it are removed. */
export function withoutLeadingMention(text: string, name: string): string {
  const trimmed = text.trim();
  const word = folded(name);
  if (!isMentionAt(folded(trimmed), 0, word)) return trimmed;
  let end = 0;
  for (let seen = ""; seen.length <= word.length;) {
    const character = characterAt(trimmed, end);
    end += character.length;
    seen += folded(character);
  }
  return trimmed
    .slice(end)
    .replace(/^[\p{Bidi_Control},:]+/u, "")
    .trim();
}

function wordsOf(names: readonly string[]) {
  const words = names.map((name) => ({ name, word: folded(name) }));
  return words.toSorted((one, other) => other.word.length - one.word.length);
}

function isMentionAt(text: string, at: number, word: string): boolean {
  if (text[at] !== "@" || !text.startsWith(word, at + 1)) return false;
  const end = at + 1 + word.length;
  const isEmphasized = isOpenedByUnderscore(text, at);
  return (isEmphasized || isFree(text, at)) && endsAt(text, end, isEmphasized);
}

/** True for `_@crab_`: marks of emphasis, not parts of a name. */
function isOpenedByUnderscore(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "_") start -= 1;
  return start < at && !isInAddress(characterBefore(text, start));
}

function isFree(text: string, at: number): boolean {
  const before = characterBefore(text, at);
  if (isInAddress(before)) return false;
  if (before !== "/") return true;
  const path =
    text
      .slice(Math.max(0, at - 256), at)
      .split(/\s/)
      .at(-1) ?? "";
  return !path.includes(".");
}

function endsAt(text: string, end: number, isEmphasized: boolean): boolean {
  const last = characterBefore(text, end);
  const next = characterAt(text, end);
  if (next === "_" && isEmphasized) return true;
  if (next === "." || next === "-") return !isOneWord(last, characterAt(text, end + 1));
  return next !== "@" && !isOneWord(last, next);
}
