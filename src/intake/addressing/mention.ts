import { proseOf } from "./prose.ts";

/**
 * True when the text contains `@name` in any case, taken literally. Not within a longer word (`@crabby`, `@crab-1`,
 * `@crab.io`), an e-mail or network address (`x@crab`, `@crab@example.org`, `example.org/@crab`), code or quoted lines.
 * Anything else may follow, as in `@crab's` and `@crab.`.
 */
export function isMentioned(text: string, name: string): boolean {
  if (!text.includes("@")) return false;
  return mentionPattern(name).test(proseOf(text).normalize("NFC"));
}

/** True when the transcript contains the name as a word, in any case, without @. */
export function isSpoken(transcript: string, name: string): boolean {
  const inWord = String.raw`\p{L}\p{M}\p{N}_`;
  const pattern = new RegExp(`(?<![${inWord}])${RegExp.escape(name.normalize("NFC"))}(?![${inWord}])`, "iu");
  return pattern.test(transcript.normalize("NFC"));
}

/** The text behind a mention that it begins with, or the text itself; blanks around it are removed. */
export function withoutLeadingMention(text: string, name: string): string {
  const trimmed = text.trim();
  const found = mentionPattern(name).exec(trimmed);
  if (found?.index !== 0) return trimmed;
  return trimmed.slice(found[0].length).replace(/^[,:]/, "").trim();
}

function mentionPattern(name: string): RegExp {
  const inWord = String.raw`\p{L}\p{M}\p{N}_@\-`;
  const before = String.raw`(?<![${inWord}+]|\.\S{0,256}/)`;
  const after = String.raw`(?![${inWord}]|\.[\p{L}\p{N}])`;
  return new RegExp(`${before}@${RegExp.escape(name.normalize("NFC"))}${after}`, "iu");
}
