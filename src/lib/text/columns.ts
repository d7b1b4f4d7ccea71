import { eastAsianWidth } from "get-east-asian-width";

const emoji = /\p{Emoji_Presentation}|\ufe0f|\u20e3/u;
/** Combining characters; the last range are vowels and finals of Korean syllables. */
const standing = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
/** Characters that must not begin a line. */
const closing = /^[\p{Pe}\p{Pf}\p{Po}\u30fc]/u;
/** Assumed width of a tab, at most. */
const tabColumns = 8;

/** Returns the terminal columns of a one-line text. */
export function columnsOf(text: string): number {
  return charactersOf(text).reduce((sum, character) => sum + characterColumns(character), 0);
}

/** Returns the columns of one grapheme. */
function characterColumns(character: string): number {
  if (character === "\t") return tabColumns;
  if (emoji.test(character)) return 2;
  let sum = 0;
  for (const point of character) if (!standing.test(point)) sum += eastAsianWidth(point.codePointAt(0) ?? 0);
  return sum;
}

/**
 * The beginning of a text of one line, with `…` for what has no room in this many columns. What comes behind that is
 * not looked at.
 */
export function cutToColumns(text: string, columns: number): string {
  let [used, kept] = [0, 0];
  for (const { segment, index } of segmenter().segment(text)) {
    used += characterColumns(segment);
    if (used > columns) return `${text.slice(0, kept)}…`;
    if (used <= columns - 1) kept = index + segment.length;
  }
  return text;
}

/**
 * Breaks a line between words, or beside characters that are wide, so that the first line takes at most `first` columns
 * and each other one `next`. A word that has room in no line is cut. Blanks at a break are left out.
 */
export function wrapLine(line: string, { first, next }: { readonly first: number; readonly next: number }): string[] {
  const lines: string[] = [];
  let [current, blanks, room] = ["", "", first];
  for (const { text, columns, isBlank } of wordsOf(line).flatMap((word) =>
    word.columns > next ? cut(word) : [word],
  )) {
    if (!isBlank && columns > room) {
      lines.push(current);
      [current, blanks, room] = ["", "", next];
    }
    if (!isBlank) current += blanks + text;
    blanks = isBlank ? blanks + text : "";
    room -= columns;
  }
  return [...lines, current];
}

/** A piece of a line that is not broken, unless it has room in no line. */
interface Word {
  text: string;
  columns: number;
  readonly isBlank: boolean;
}

function cut({ text, isBlank }: Word): Word[] {
  return charactersOf(text).map((character) => ({ text: character, columns: characterColumns(character), isBlank }));
}

function charactersOf(word: string): string[] {
  return Array.from(segmenter().segment(word), ({ segment }) => segment);
}

/** Blanks, and what must not be broken, in turn. */
function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  let before: "blank" | "wide" | "narrow" | undefined;
  for (const segment of charactersOf(line)) {
    const columns = characterColumns(segment);
    const kind = /^\s/.test(segment) ? "blank" : columns > 1 ? "wide" : "narrow";
    const isGlued = kind === before ? kind !== "wide" : false;
    const stays = kind !== "blank" && before !== "blank" && closing.test(segment);
    const last = words.at(-1);
    if (last !== undefined && (isGlued || stays)) {
      last.text += segment;
      last.columns += columns;
    } else words.push({ text: segment, columns, isBlank: kind === "blank" });
    before = kind;
  }
  return words;
}

let made: Intl.Segmenter | undefined;

/** Made when it is first needed: every command loads this file, and few measure a text. */
function segmenter(): Intl.Segmenter {
  return (made ??= new Intl.Segmenter(undefined, { granularity: "grapheme" }));
}
