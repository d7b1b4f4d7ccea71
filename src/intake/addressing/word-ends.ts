/** Scripts with capital letters, whose words, numbers and addresses are set apart by blanks. */
const cased = /[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}\p{scx=Armenian}\p{scx=Georgian}\p{N}_]/u;

/** Scripts that put no blank between words, or add endings to any word. */
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/u;

/** Text as names are compared in it: without case, width and the marks that set a writing direction. */
export function folded(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("ς", "σ");
}

/**
 * True when two neighbouring characters belong to one word, as far as their scripts tell: `b` and `y`, not `b` and `帮`.
 * In scripts without blanks between words, no two do.
 */
export function isOneWord(left: string, right: string): boolean {
  if (/\p{M}/u.test(right)) return true;
  const kind = kindOf(left);
  return kind !== undefined && kind !== "unspaced" && kind === kindOf(right);
}

/** True for a character that an e-mail address may have before its `@`. */
export function isInAddress(character: string): boolean {
  return kindOf(character) === "cased" || /[+@-]/.test(character);
}

function kindOf(character: string): "cased" | "unspaced" | "other" | undefined {
  if (cased.test(character) && /[\p{L}\p{M}\p{N}_]/u.test(character)) return "cased";
  if (unspaced.test(character)) return "unspaced";
  return /\p{L}/u.test(character) ? "other" : undefined;
}

/** The whole character that begins here, or "". */
export function characterAt(text: string, index: number): string {
  const code = text.codePointAt(index);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** The last whole character before this place, without accents that follow it, or "". */
export function characterBefore(text: string, index: number): string {
  let end = index;
  while (end > 0) {
    const isPair =
      end > 1 && /[\uDC00-\uDFFF]/.test(text.charAt(end - 1)) && /[\uD800-\uDBFF]/.test(text.charAt(end - 2));
    const character = text.slice(end - (isPair ? 2 : 1), end);
    if (!/\p{M}/u.test(character)) return character;
    end -= character.length;
  }
  return "";
}
