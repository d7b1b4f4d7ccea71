import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createContext, Script } from "node:vm";

import { Visitor } from "oxc-parser";
import { expect, test } from "vitest";

import { parseSource } from "../support/parse-source.ts";

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
    visitor.visit(parseSource(file, readFileSync(join(checkout, file), "utf8")).program);
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

/** Texts at which an expression that begins anew at each place takes the square of their length: starts and repeats. */
function hostileTexts(pattern: string): (readonly [head: string, piece: string])[] {
  const { words, pieces } = piecesFor(pattern);
  return pieces.flatMap((piece) =>
    (usualPieces.includes(piece) ? ["", ...words.slice(0, 3)] : [""]).map((head) => [head, piece] as const),
  );
}

/** Lengths of the texts: one is tried at the next length if it took longer than one that is linear. */
const lengths = [4_000, 16_000, 64_000];

/** Milliseconds of the process' own time: a linear expression takes one for the longest text, others seconds. */
const limit = 100;

/** Looks for all matches in one text after another, until one takes too long; `at` is the text that was begun last. */
const inside = createContext({ lengths, limit, now: ownTime });
const lookForAll = new Script(`
  for (; at < heads.length && time <= limit; at += 1) {
    for (const length of lengths) {
      const text = heads[at] + pieces[at].repeat(Math.ceil(length / pieces[at].length)) + "\\n!";
      began = now();
      text.replace(expression, "");
      time = now() - began;
      if (time > limit || time <= length / 10_000) break;
    }
  }
`);

function ownTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Number of the first of these texts that takes too long; undefined where none does. */
function indexOfSlow(expression: RegExp, texts: readonly (readonly [string, string])[]): number | undefined {
  const [heads, pieces] = [texts.map(([head]) => head), texts.map(([, piece]) => piece)];
  Object.assign(inside, { heads, pieces, expression, at: 0, began: 0, time: 0 });
  // One watch over all texts, as each is a thread that is started; longer where the machine is too busy for them.
  for (let timeout = 2 * limit; ; timeout *= 2) {
    try {
      lookForAll.runInContext(inside, { timeout });
      return Number(inside["time"]) > limit ? Number(inside["at"]) - 1 : undefined;
    } catch {
      // One that has no end on this text: its time is what counts.
      if (ownTime() - Number(inside["began"]) > limit) return Number(inside["at"]);
    }
  }
}

/** The text at which an expression is not linear, shortened; undefined where none was found. */
function worstText({ pattern, flags }: Pick<Expression, "pattern" | "flags">): string | undefined {
  const expression = new RegExp(pattern, flags.replaceAll(/[gy]/g, "").concat("g"));
  let texts = hostileTexts(pattern);
  for (;;) {
    const index = indexOfSlow(expression, texts);
    const text = texts[index ?? texts.length];
    if (index === undefined || text === undefined) return undefined;
    // Once may be the machine's fault.
    if (indexOfSlow(expression, [text]) !== undefined) return `${JSON.stringify(text.join("").slice(0, 24))}…`;
    texts = texts.slice(index + 1);
  }
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
  expect(worstText({ pattern, flags: "" })).toBeDefined();
});
