/** A word of a line as bash will see it, as far as that is certain. */
export interface ReadWord {
  /** Source text. */
  readonly source: string;
  /** Without quotes. Undefined when bash makes something else of it: an expansion, or a spelling that is not read. */
  readonly value: string | undefined;
  /** The value is a pattern that names of files are matched with. */
  readonly isGlob: boolean;
}

/**
 * One piece of a literal word: quoted text, an escaped character, plain characters, or those of a pattern. What is not
 * listed here is no literal. `$?` counts as one: it is a number.
 */
const piece =
  /'([^']*)'|([\p{L}\p{N}_./,:=@%+^#!~-]+|\$\?)|"((?:[^"\\$`]|\\[^]|\$\?)*)"|\\([^])|([*?[\]])|\$'((?:[^'\\]|\\[tn])*)'/uy;

/** Begins with `~`, or has one where bash may take it for somebody's home. */
const tilde = /^~|[:=]~/;

/** Reads a word of a command. Time is proportional to its length. */
export function readWord(source: string): ReadWord {
  const unread = { source, value: undefined, isGlob: false };
  // The command `[` and its end.
  if (source === "[" || source === "]") return { source, value: source, isGlob: false };
  if (tilde.test(source)) return unread;
  let value = "";
  let isGlob = false;
  piece.lastIndex = 0;
  while (piece.lastIndex < source.length) {
    const found = piece.exec(source);
    if (!found) return unread;
    if (found[5] !== undefined) isGlob = true;
    value += textOf(found);
  }
  return { source, value, isGlob };
}

function textOf([, single, plain, double, escaped, pattern, named = ""]: RegExpExecArray): string {
  const inQuotes = double?.replaceAll(/\\(["\\$`]|\n)/g, unescaped);
  return single ?? plain ?? inQuotes ?? escaped?.replace("\n", "") ?? pattern ?? withControls(named);
}

function withControls(text: string): string {
  return text.replaceAll("\\t", "\t").replaceAll("\\n", "\n");
}

function unescaped(_: string, character: string): string {
  return character === "\n" ? "" : character;
}

/** Is it exactly this text, whatever there is when the line runs? */
export function isLiteral(word: ReadWord): word is ReadWord & { readonly value: string } {
  return word.value !== undefined && !word.isGlob;
}

/** Returns its value, or else its source without quotes. */
export function seenText({ source, value }: ReadWord): string {
  return value ?? source.replaceAll(/["'\\]/g, "");
}
