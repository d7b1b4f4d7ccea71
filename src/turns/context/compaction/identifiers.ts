import { describeParts, partsOf } from "../../../domain/chats/part.ts";
import type { Step } from "../../../domain/turns/turn.ts";
import { replaceElements } from "../../../lib/text/elements.ts";
import { unescapeText } from "../../../lib/text/markup.ts";

/** Turns at the end of what is replaced whose identifiers a summary has to have. */
const checkedTurns = 3;
/** More than anybody remembers; of more, the newest count. */
const mostIdentifiers = 40;
const mostTextChars = 100_000;
const longestIdentifier = 300;

/** In the order in which they are looked for: what one has found is not looked at again. */
const kinds: readonly RegExp[] = [
  /`[^`\n]{1,300}`/g,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>"'`)\]]+/gi,
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/gu,
  /(?<![\p{L}\p{N}:/])(?:~|\.{1,2})?\/[\p{L}\p{N}._-]+(?:\/[\p{L}\p{N}._-]+)*\/?/gu,
  /(?<![\p{L}\p{N}/_-])[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}._-]+)*\/[\p{L}\p{N}_-]+\.[\p{L}\p{N}]{1,8}(?![\p{L}\p{N}])/gu,
  /\d{4,}/g,
];

/**
 * Paths, URLs, e-mail addresses, names of code in backticks and numbers of four digits or more, as they stand in the
 * text.
 */
export function identifiersIn(text: string): string[] {
  const found: { readonly at: number; readonly value: string }[] = [];
  let rest = text.slice(-mostTextChars);
  for (const kind of kinds)
    rest = rest.replaceAll(kind, (match: string, ...more: unknown[]) => {
      const at = Number(more.find((value) => typeof value === "number"));
      const value = match
        .replace(/^`|`$/g, "")
        .replace(/(?<![.,;:!?])[.,;:!?]+$/u, "")
        .trim();
      if (value !== "" && value.length <= longestIdentifier) found.push({ at, value });
      return " ".repeat(match.length);
    });
  const ordered = found.toSorted((one, other) => one.at - other.at).map(({ value }) => value);
  return [...new Set(ordered)];
}

/** Identifiers that a summary must keep: those said in the steps' last turns. */
export function identifiersToKeep(steps: readonly Step[]): string[] {
  const turns = new Set([...new Set(steps.map(({ turn }) => turn))].slice(-checkedTurns));
  const said = steps.filter(({ turn }) => turns.has(turn)).flatMap(saidIn);
  return [...new Set(said.flatMap(identifiersIn))].slice(-mostIdentifiers);
}

/** Identifiers missing in the text, whose markup may be escaped. */
export function missingIn(text: string, identifiers: readonly string[]): string[] {
  const plain = unescapeText(text);
  return identifiers.filter((identifier) => !plain.includes(identifier));
}

/**
 * Without markup, whose attributes hold times and ids, and without what the host says. Results of tools are not what
 * was said.
 */
function saidIn({ body }: Step): string[] {
  if (body.kind === "tools") return [];
  if (body.kind === "model") return [body.answer.text];
  const all = describeParts(partsOf(body));
  const said = ["host-note", "memories"].reduce((text, name) => replaceElements(text, name, () => " "), all);
  return [unescapeText(said.replaceAll(/<[^<>]*>/g, " "))];
}
