import { proseOf } from "./prose.ts";

/**
 * Is `@name` said in this text? Anywhere, in any case, the name taken literally. Not as part of a longer word
 * (`@crabby`, `@crab-1`, `@crab.io`), of an e-mail or network address (`x@crab`, `@crab@example.org`,
 * `example.org/@crab`), and not in code or quoted lines. What may follow: anything else, `@crab's` and `@crab.`
 * included.
 */
export function isMentioned(text: string, name: string): boolean {
  if (!text.includes("@")) return false;
  return mentionPattern(name).test(proseOf(text).normalize("NFC"));
}

/** Is the name said in what a program has heard? As a word of its own, in any case; nobody says an @. */
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
