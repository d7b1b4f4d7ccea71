import { hiddenInProse } from "./hidden-characters.ts";

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

const special = new RegExp(`[&<>"']|${hiddenInProse.source}`, "gv");
const reference = /&(?:amp|lt|gt|quot|apos|#x[0-9A-F]{1,6});/g;

/**
 * Text that cannot open or close an element nor hide anything; line feeds and tabs stay. Lone surrogates become U+FFFD.
 */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(special, (found) => (found === "\n" || found === "\t" ? found : toReference(found)));
}

/** Text for an attribute in double quotes: always one line. */
export function escapeAttribute(text: string): string {
  return text.toWellFormed().replaceAll(special, toReference);
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
