/**
 * True when the whole text matches the pattern, in which `*` stands for any text, also none. White space counts as one
 * space; a pattern that ends with ` *` also matches nothing after it. Time is proportional to both lengths.
 */
export function fitsPattern(text: string, pattern: string): boolean {
  const plain = squeeze(text);
  const wanted = squeeze(pattern);
  return fits(plain, wanted) || (wanted.endsWith(" *") && fits(plain, wanted.slice(0, -2)));
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

/** Each piece between two stars is looked for behind the one before, as early as it can be. */
function fits(text: string, pattern: string): boolean {
  const pieces = pattern.split("*");
  const [first = "", ...more] = pieces;
  if (!text.startsWith(first)) return false;
  const last = more.pop();
  if (last === undefined) return text === first;
  let from = first.length;
  for (const piece of more) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
