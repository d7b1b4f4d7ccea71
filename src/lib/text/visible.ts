import { hiddenCharacter } from "./hidden-characters.ts";

/**
 * Text from a stranger, safe to print on one line of a terminal: what steers it is shown as `\u{1b}`, a line break as
 * `\n`.
 */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll(hiddenCharacter, escapeCharacter);
}

/** The same for text of several lines: line breaks and tabs stay. */
export function visibleLines(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(hiddenCharacter, (character) =>
      character === "\n" || character === "\t" ? character : escapeCharacter(character),
    );
}

/**
 * JSON escapes ASCII controls by itself; what else steers a terminal or reorders a line is escaped here. Takes and
 * gives JSON.
 */
export function escapeJson(json: string): string {
  return json.replaceAll(hiddenCharacter, (character) => character.split("").map(escapeUnit).join(""));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** At most this many characters, cut at the end with a mark that says how many are missing. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).toWellFormed()}… (${text.length - maxChars} more)`;
}
