import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createContext, Script } from "node:vm";

import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "../..");

interface Expression {
  readonly pattern: string;
  readonly flags: string;
  readonly places: string[];
}

/** Files that are not looked at, with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  "src/config/": "reads the operator's own configuration",
};

/** Every expression that is written down in the host's code, once. */
function expressionsOfHost(): Expression[] {
  const found = new Map<string, Expression>();
  for (const file of globSync("src/**/*.ts", { cwd: checkout })) {
    if (Object.keys(leftOut).some((folder) => file.startsWith(folder))) continue;
    const visitor = new Visitor({
      Literal: (node) => {
        if (!("regex" in node)) return;
        const { pattern, flags } = node.regex;
        const known = found.get(`${pattern}/${flags}`) ?? { pattern, flags, places: [] };
        known.places.push(file);
        found.set(`${pattern}/${flags}`, known);
      },
    });
    visitor.visit(parseSync(file, readFileSync(join(checkout, file), "utf8")).program);
  }
  return [...found.values()];
}

const usualSigns = ' \t\na1A_/.-[<({*`:@,#="\\$é'.split("");
const usualPieces = [...usualSigns, "a ", "a.", "a/", "-a", "<a ", "\n ", "- ", "1.", "*a", "${"];

/** Pieces with which a text begins a match of this pattern again and again. */
function piecesFor(pattern: string): { readonly words: readonly string[]; readonly pieces: readonly string[] } {
  const plain = pattern
    .replaceAll(/\\[sSdDwWbBpP](?:\{[^{}]*\})?|\(\?<?[:=!]/g, "\0")
    .replaceAll(/\[(?:\\.|[^\]\\])*\]/g, "\0")
    .replaceAll(/\\(.)/g, "$1");
  // oxlint-disable-next-line no-control-regex -- stands for what matches many characters
  const words = [...new Set(plain.split(/[\0()|?*+^.{}]+/).filter((word) => word !== ""))].slice(0, 8);
  const signs = [...new Set(pattern.replaceAll(/[\w()|?+^$]/g, ""))].slice(0, 12);
  const around = words.flatMap((word) => [`${word}a`, `${word} `, ` ${word}`, `a${word}`, `${word}>`]);
  return { words, pieces: [...new Set([...usualPieces, ...words, ...signs, ...around])] };
}

/** Texts of about this length at which an expression that begins anew at each place takes the square of it. */
function* hostileTexts(pattern: string, length: number): Generator<string> {
  const { words, pieces } = piecesFor(pattern);
  for (const piece of pieces)
    for (const head of usualPieces.includes(piece) ? ["", ...words.slice(0, 3)] : [""])
      yield `${head}${piece.repeat(Math.ceil(length / piece.length))}\n!`;
}

const inside = createContext({ text: "", expression: /x/ });
const replaceAll = new Script('text.replace(expression, "")');

/** Milliseconds of the process' own time that looking for all matches takes. */
function timeOf({ pattern, flags }: Pick<Expression, "pattern" | "flags">, text: string): number {
  const expression = new RegExp(pattern, flags.replaceAll(/[gy]/g, "").concat("g"));
  Object.assign(inside, { text, expression });
  const before = process.cpuUsage();
  try {
    replaceAll.runInContext(inside, { timeout: 5_000 });
  } catch {
    // One that has no end on this text: its time is what counts.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The text at which an expression is not linear, shortened; undefined where none was found. */
function worstText(expression: Expression): string | undefined {
  let indexes: readonly number[] | undefined;
  for (const length of [4_000, 16_000, 64_000]) {
    const texts = [...hostileTexts(expression.pattern, length)];
    const looked = indexes ?? texts.keys();
    const slow: number[] = [];
    for (const index of looked) {
      const time = timeOf(expression, texts[index] ?? "");
      // A linear one takes a millisecond at most, also at the last length, where others take seconds.
      if (time > 100 && timeOf(expression, texts[index] ?? "") > 100)
        return `${JSON.stringify(texts[index]?.slice(0, 24))}…`;
      if (time > (length / 4_000) * 0.4) slow.push(index);
    }
    indexes = slow;
  }
  return undefined;
}

test("no expression of the host takes more than linear time for a text, whatever it holds", () => {
  const expressions = expressionsOfHost();

  const slow = expressions.flatMap((expression) => {
    const text = worstText(expression);
    return text === undefined ? [] : [`${expression.places.join(", ")}: /${expression.pattern}/ at ${text}`];
  });

  expect(expressions.length).toBeGreaterThan(300);
  expect(slow).toEqual([]);
});

test.for([
  ["an open group before an end", String.raw`<[^>]*>`],
  ["a run before an end", String.raw`\s+$`],
  ["words around a sign", String.raw`[\w.]+@[\w.]+\.\w+`],
  ["an element that is not closed", String.raw`<note>[\s\S]*?</note>`],
  ["two runs of the same", String.raw`^\s*\|?\s*-\s*$`],
  ["a choice that has no end", String.raw`^(?:<!--[^]*?-->\s*)*<html`],
] as const)("finds %s", ([, pattern]) => {
  expect(worstText({ pattern, flags: "", places: [] })).toBeDefined();
});
