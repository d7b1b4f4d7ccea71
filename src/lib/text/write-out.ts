import { joinsPicture } from "./hidden-characters.ts";

/** Blanks in a row that are left as they are, within a line and at its beginning. */
const mostBlanks = 8;
const mostIndent = 16;
const mostEmptyLines = 2;
/** Letters of a word that are named. */
const namedLetters = 4;

/** Looks like a blank, but is assigned to symbols and marks. */
const blankSymbols = String.raw`\u2800\ufffc\u{1d159}\u{16fe4}`;
/** Brackets of what is written out, which nothing else may have. */
const brackets = String.raw`\u27e8\u27e9`;
const unseen = String.raw`[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}${blankSymbols}${brackets}]--\x20]`;
const unseenRun = new RegExp(String.raw`(?!${joinsPicture})(${unseen})(?:(?!${joinsPicture})\1)*|(${"`"}){3,}`, "gv");

/** Marks without a letter, and more than three on one. */
const strayMarks =
  /(?<![\p{L}\p{N}\p{M}\p{Extended_Pictographic}])(?![\ufe0e\ufe0f])\p{M}|(?<=\p{M}{3})(?![\ufe0e\ufe0f])\p{M}/gv;

const word = /[\p{L}\p{M}]+/gv;
const latin = /\p{Script=Latin}/v;
const eastAsian = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}`;
/** Letters that no word has together with Latin ones; those of East Asia do. */
const notWithLatin = new RegExp(
  String.raw`[\p{L}--[\p{Script=Latin}${eastAsian}\p{Script=Common}\p{Script=Inherited}]]`,
  "gv",
);
/** Scripts with letters that look like those of others, by Unicode's names. */
const alike = {
  Cyrillic: /\p{Script=Cyrillic}/v,
  Greek: /\p{Script=Greek}/v,
  Armenian: /\p{Script=Armenian}/v,
  Cherokee: /\p{Script=Cherokee}/v,
  Coptic: /\p{Script=Coptic}/v,
} as const;
/** Letters of Cyrillic and Greek that look like Latin ones (confusables.txt of Unicode TR39). */
const likeLatin = /^[аАВсСԁеЕһНіІјЈКӏМоОрРԛЅѕТԝхХуУүΑΒΕΖΗΙΚΜΝοΟΡΤΥΧ]{2,}$/u;

/**
 * Text as people judge it: nothing of it hides. What is no letter, digit, punctuation, symbol or single blank is
 * written out in brackets that nothing else has, such as `⟨U+2800⟩`, `⟨tab⟩`, `⟨1,200 blanks⟩` and `⟨36 empty lines⟩`;
 * so are three backticks, which would end a block. A word of letters that do not belong together is followed by which
 * they are. Different texts come out different. Takes time in proportion to the length.
 */
export function writeOut(text: string): string {
  const shown: string[] = [];
  let empty = 0;
  const flush = (): void => {
    if (empty > mostEmptyLines) shown.push(`⟨${count(empty)} empty lines⟩`);
    else for (let line = 0; line < empty; line += 1) shown.push("");
    empty = 0;
  };
  for (const line of text.split("\n")) {
    if (line === "") empty += 1;
    else {
      flush();
      shown.push(lineInSight(line));
    }
  }
  flush();
  return shown.join("\n");
}

/** Its size in words: `1,200 characters in 3 lines`. */
export function sizeOf(text: string): string {
  const lines = text.split("\n").length;
  return `${plural(text.length, "character")} in ${plural(lines, "line")}`;
}

function lineInSight(line: string): string {
  return line
    .replaceAll(unseenRun, (run, one: string | undefined) => writtenOut(run, one ?? "`"))
    .replaceAll(strayMarks, (mark) => `⟨${codeOf(mark)}⟩`)
    .replaceAll(word, (letters) => letters + remarkOn(letters))
    .replaceAll(/ {2,}$| $|^ {2,}| {2,}/g, (blanks, at: number, whole: string) => {
      const isEnd = at + blanks.length === whole.length;
      // An empty line in a diff is one blank.
      if (isEnd && whole !== " ") return `⟨${plural(blanks.length, "blank")}⟩`;
      return blanks.length <= (at === 0 ? mostIndent : mostBlanks) ? blanks : `⟨${plural(blanks.length, "blank")}⟩`;
    });
}

function writtenOut(run: string, one: string): string {
  const times = run.length / one.length;
  if (one === "\t") return times === 1 ? "⟨tab⟩" : `⟨${count(times)} tabs⟩`;
  return times === 1 ? `⟨${codeOf(one)}⟩` : `⟨${count(times)} × ${codeOf(one)}⟩`;
}

/** Remark on letters that do not belong together; empty for ordinary words. */
function remarkOn(letters: string): string {
  const isLatin = latin.test(letters);
  const foreign = isLatin ? [...new Set(letters.match(notWithLatin))] : [];
  if (foreign.length > 0)
    return `⟨mixed letters: ${foreign
      .slice(0, namedLetters)
      .map((letter) => `${letter} ${codeOf(letter)}`)
      .join(", ")}⟩`;
  const scripts = Object.entries(alike).flatMap(([name, script]) => (script.test(letters) ? [name] : []));
  if (scripts.length > 1) return `⟨mixed letters: ${scripts.join(", ")}⟩`;
  return !isLatin && likeLatin.test(letters) ? `⟨looks Latin, is ${scripts.join()}⟩` : "";
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function count(number: number): string {
  return number.toLocaleString("en");
}
