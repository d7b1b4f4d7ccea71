const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What Unicode calls wide and fullwidth, emoji aside. */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}|\ufe0f|\u20e3/u;
/** What stands on the character before it; the second range are vowels and ends of Korean syllables. */
const standing = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
/** What does not begin a line, though a character before it would end one. */
const closing = /^[\p{Pe}\p{Pf}\p{Po}\u30fc]/u;
/** Where tabs end is not known here: as many as they may take. */
const tabColumns = 8;

/** How many columns of a terminal a text of one line takes. */
export function columnsOf(text: string): number {
  return charactersOf(text).reduce((sum, character) => sum + clusterColumns(character), 0);
}

function clusterColumns(cluster: string): number {
  if (cluster === "\t") return tabColumns;
  if (emoji.test(cluster)) return 2;
  let sum = 0;
  for (const character of cluster) sum += wide.test(character) ? 2 : standing.test(character) ? 0 : 1;
  return sum;
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
    const kind = /^\s/.test(segment) ? "blank" : clusterColumns(segment) > 1 ? "wide" : "narrow";
    const isGlued = kind === before ? kind !== "wide" : false;
    const stays = kind !== "blank" && before !== "blank" && closing.test(segment);
    const last = words.at(-1);
    if (last !== undefined && (isGlued || stays)) words[words.length - 1] = last + segment;
    else words.push(segment);
    before = kind;
  }
  return words;
}
