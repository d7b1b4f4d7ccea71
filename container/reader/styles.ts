/*
 * Style sheets, as far as they hide text. Hidden orders for models use every notation: escapes, comments, shorthands,
 * variables, other units.
 */

/** Declarations for some elements: property names in lower case, values without escapes and comments. */
export type Declarations = ReadonlyMap<string, string>;

/** A style sheet's rule: its selector and its declarations. */
export interface Rule {
  readonly selector: string;
  readonly declarations: string;
}

/** Rules that are looked at, and characters of them. */
const maxRules = 2_000;
const maxChars = 500_000;

/** Initial viewport of a desktop browser. */
export const screen = { width: 1_280, height: 800 } as const;
const pixelsOfEm = 16;

/**
 * The rules of a style sheet, those within others too, but for those that hold only elsewhere: on paper, on other
 * screens, by the reader's taste.
 */
export function rulesOf(css: string): readonly Rule[] {
  const rules: Rule[] = [];
  const open: { readonly prelude: string; text: string }[] = [{ prelude: "", text: "" }];
  for (const piece of piecesOf(css.slice(0, maxChars))) {
    const block = open.at(-1);
    if (block === undefined || rules.length >= maxRules) break;
    if (piece === "{") {
      const end = Math.max(block.text.lastIndexOf(";"), -1);
      open.push({ prelude: block.text.slice(end + 1).trim(), text: "" });
      block.text = block.text.slice(0, end + 1);
    } else if (piece === "}") {
      if (open.length === 1) continue;
      open.pop();
      if (!block.prelude.startsWith("@") && open.every(({ prelude }) => holds(prelude)))
        rules.push({ selector: block.prelude.replace(/^&\s*/, ""), declarations: block.text });
    } else block.text += piece;
  }
  return rules;
}

/** True when this media block applies to such a screen. */
function holds(prelude: string): boolean {
  if (!/^@media\b/i.test(prelude)) return true;
  const queries = prelude.toLowerCase().split(",");
  return queries.some((query) => !/\b(?:print|prefers-)/.test(query) && !isOfOtherWidth(query));
}

function isOfOtherWidth(query: string): boolean {
  const bounds = query.matchAll(/\b(?:(min|max)-(?:device-)?width\s*:|width\s*([<>])=?)\s*(\d+\.?\d*)(px|r?em)/g);
  return [...bounds].some(([, name, sign, number, unit]) => {
    const pixels = Number(number) * (unit === "px" ? 1 : pixelsOfEm);
    return name === "min" || sign === ">" ? pixels > screen.width : pixels < screen.width;
  });
}

/** Braces, and what stands between them: strings and addresses, which may hold braces, are left empty. */
function* piecesOf(css: string): Generator<string> {
  const token =
    /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|url\([^)]*\)|\\[^]|[{}]/gi;
  let at = 0;
  for (const { 0: found, index } of css.matchAll(token)) {
    if (index > at) yield css.slice(at, index);
    at = index + found.length;
    if (found === "{" || found === "}" || found.startsWith("\\")) yield found;
    else if (found.startsWith("/*")) yield " ";
    else yield /^url/i.test(found) ? "url()" : found.replaceAll(/[{};]/g, "_");
  }
  yield css.slice(at);
}

/** `variables`: what `var(--name)` stands for. */
export function declarationsIn(text: string, variables: ReadonlyMap<string, string> = new Map()): Declarations {
  const values = new Map<string, string>();
  const plain = withoutEscapes(text.replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, " ")).toLowerCase();
  for (const declaration of plain.split(";")) {
    const colon = declaration.indexOf(":");
    if (colon === -1) continue;
    const value = declaration.slice(colon + 1).replace(/!\s*important/, "");
    values.set(declaration.slice(0, colon).trim(), filled(value, variables).trim());
  }
  return values;
}

/** All variables of these declarations, whomever they are for. */
export function variablesIn(texts: readonly string[]): ReadonlyMap<string, string> {
  const found = texts.flatMap((text) => (text.includes("--") ? [...declarationsIn(text)] : []));
  return new Map(found.filter(([name]) => name.startsWith("--")));
}

/** Variables stand for others, but not without end. */
function filled(value: string, variables: ReadonlyMap<string, string>): string {
  let text = value;
  for (let depth = 0; depth < 4 && text.includes("var(") && text.length < 1_000; depth += 1)
    text = text.replaceAll(
      /var\(\s*(--[^\s,()]+)\s*(?:,([^()]*))?\)/g,
      (_, name: string, otherwise: string = "") => variables.get(name) ?? otherwise,
    );
  return text;
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_, hex: string | undefined, character: string = "") => {
    const point = Number.parseInt(hex ?? "", 16);
    if (hex === undefined) return character;
    return point > 0 && point <= 0x10_ff_ff ? String.fromCodePoint(point) : "";
  });
}
