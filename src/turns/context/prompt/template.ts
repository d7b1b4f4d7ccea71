import Mustache from "mustache";

import { from, type Sourced } from "../../../domain/rights/sourced.ts";
import { nearest } from "../../../lib/text/nearest.ts";
import { promptSections, sectionChars, type PromptSectionName } from "./sections.ts";

/** Values of a template: texts and conditions. */
export type TemplateValues = Readonly<Record<string, Sourced | boolean>>;

/** A template as Mustache parses it: [kind, name or text, from, to, tokens inside …]. */
type Token = readonly [kind: string, value: string, ...rest: unknown[]];

/** Values are escaped by whoever makes them: some are elements. */
const asItIs = { escape: (value: string): string => value };

/** The text of a section, which is the operator's, with its values. The template must have no fault. */
export function fillTemplate(template: string, values: TemplateValues): Sourced {
  const used = Object.values(values).filter((value) => typeof value !== "boolean");
  const texts = Object.entries(values).map(([name, value]) => [name, typeof value === "boolean" ? value : value.text]);
  return from(used, Mustache.render(template, Object.fromEntries(texts), undefined, asItIs).trim());
}

/** Returns why a text is invalid for this section; an empty one is valid. */
export function templateFaults(name: PromptSectionName, text: string): string[] {
  if (text.length > sectionChars) return [`has ${text.length} characters, and at most ${sectionChars} are allowed`];
  if (text.trim() === "") return [];
  const { may, must } = promptSections[name];
  const known: readonly string[] = [...may, ...must];
  try {
    const used = namesIn(Mustache.parse(text));
    return [
      ...used.filter((value) => !known.includes(value)).map((value) => unknownValue(value, known)),
      ...must.filter((value) => !used.includes(value)).map((value) => `does not show {{${value}}}`),
    ];
  } catch (error) {
    return [`is no Mustache template: ${(error as Error).message}`];
  }
}

function unknownValue(value: string, known: readonly string[]): string {
  const near = nearest(value, known);
  const hint = near === undefined ? `there are: ${known.join(", ")}` : `did you mean {{${near}}}?`;
  return `has the value {{${value}}}, which this section does not know; ${hint}`;
}

/** Names in a template; unsupported tags such as partials count as unknown names. */
function namesIn(tokens: readonly Token[]): string[] {
  const names = tokens.flatMap(([kind, value, , , inside]) => {
    if (kind === "text" || kind === "!") return [];
    if (kind === "name" || kind === "&") return [value];
    if (kind === "#" || kind === "^") return [value, ...namesIn(inside as readonly Token[])];
    return [`${kind}${value}`];
  });
  return [...new Set(names)];
}
