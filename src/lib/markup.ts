const named: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
const byName: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(named).map(([character, reference]) => [reference, character]),
);

/**
 * Characters that a reader does not see or that turn the direction of text around: control characters, bidi controls, blanks
 * of no width, line separators, and tag characters, which can spell hidden text. Joiners stay, emoji and Persian need them.
 */
const invisible = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}`;
const inText = new RegExp(`[&<>"'${invisible}]`, "gu");
const inAttribute = new RegExp(`[&<>"'\\t\\n${invisible}]`, "gu");
const reference = /&(?:amp|lt|gt|quot|apos|#x[0-9A-F]{1,6});/g;

/** Text that cannot open or close an element nor hide anything; line feeds and tabs stay. Lone surrogates become U+FFFD. */
export function escapeText(text: string): string {
  return text.toWellFormed().replace(inText, toReference);
}

/** Text for an attribute in double quotes: always one line. */
export function escapeAttribute(text: string): string {
  return text.toWellFormed().replace(inAttribute, toReference);
}

/** The opposite of both. */
export function unescapeText(text: string): string {
  return text.replace(reference, (found) => byName[found] ?? fromReference(found));
}

function fromReference(found: string): string {
  const codePoint = Number.parseInt(found.slice(3, -1), 16);
  return codePoint > 0x10ffff ? found : String.fromCodePoint(codePoint);
}

function toReference(character: string): string {
  return named[character] ?? `&#x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()};`;
}
