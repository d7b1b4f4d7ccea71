import stringWidth from "string-width";

const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What does not begin a line, though a character before it would end one. */
const closing = /^[\p{Pe}\p{Pf}\p{Po}\u30fc]/u;
/** Where tabs end is not known here: as many as they may take. */
const tabColumns = 8;

/** How many columns of a terminal a text of one line takes. */
export function columnsOf(text: string): number {
  return stringWidth(text) + tabColumns * (text.split("\t").length - 1);
}

/** The beginning of a text of one line, with `…` for what has no room in so many columns. */
export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let [kept, used] = ["", 0];
  for (const character of charactersOf(text)) {
    used += columnsOf(character);
    if (used > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/**
 * Breaks a line between words, or beside characters that are wide, so that the first line takes at most `first` columns and
 * each other one `next`. A word that has room in no line is cut. Blanks at a break are left out.
 */
export function wrapLine(line: string, { first, next }: { readonly first: number; readonly next: number }): string[] {
  const lines: string[] = [];
  let [current, blanks, room] = ["", "", first];
  for (const piece of wordsOf(line).flatMap((word) => (columnsOf(word) > next ? charactersOf(word) : [word]))) {
    const columns = columnsOf(piece);
    const isBlank = /^\s/.test(piece);
    if (!isBlank && columns > room) {
      lines.push(current);
      [current, blanks, room] = ["", "", next];
    }
    if (!isBlank) current += blanks + piece;
    blanks = isBlank ? blanks + piece : "";
    room -= columns;
  }
  return [...lines, current];
}

function charactersOf(word: string): string[] {
  return Array.from(clusters.segment(word), ({ segment }) => segment);
}

/** Blanks, and what must not be broken, in turn. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  let before: "blank" | "wide" | "narrow" | undefined;
  for (const { segment } of clusters.segment(line)) {
    const kind = /^\s/.test(segment) ? "blank" : columnsOf(segment) > 1 ? "wide" : "narrow";
    const isGlued = kind === before ? kind !== "wide" : false;
    const stays = kind !== "blank" && before !== "blank" && closing.test(segment);
    const last = words.at(-1);
    if (last !== undefined && (isGlued || stays)) words[words.length - 1] = last + segment;
    else words.push(segment);
    before = kind;
  }
  return words;
}
