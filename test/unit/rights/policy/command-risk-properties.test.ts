import * as fc from "fast-check";
import { expect, test } from "vitest";

import { nothingAtStake as nothing } from "../../../../src/domain/rights/stakes.ts";
import { Findings } from "../../../../src/rights/policy/shell/findings.ts";
import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";
import { judgeLine } from "../../../../src/rights/policy/shell/judge-line.ts";
import { parseLine } from "../../../../src/rights/policy/shell/parse-line.ts";
import { scriptsIn } from "../../../../src/rights/policy/scripts-in.ts";
import { everydayLines } from "../../../fixtures/commands/everyday.ts";
import { tableLine } from "../../../fixtures/commands/generated.ts";
import { hostileLines } from "../../../fixtures/commands/hostile.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const ranks = { low: 0, medium: 1, high: 2 };

async function rank(text: string): Promise<number> {
  return ranks[(await judgeCommand(text, nothing)).risk];
}

const anyLine = fc.constantFrom(...everydayLines, ...hostileLines);
const grammar = fc.constantFrom(
  ..."$ ( ) { } [ ] ` ' \" \\ ; & | < > # ~ * ? ! = : - /".split(" "),
  "\n",
  "\t",
  ..."a rm if then fi do done case in esac for << <<- $( $(( ${ $' }; )) ]] [[ 2>&1".split(" "),
);

test("any text gets a judgement, with a reason unless it is low", async () => {
  const mutated = fc
    .tuple(anyLine, fc.nat(), fc.nat(), fc.oneof(grammar, fc.string({ unit: anyCharacter, maxLength: 8 })))
    .map(([line, from, length, put]) => {
      const start = from % (line.length + 1);
      return line.slice(0, start) + put + line.slice(start + (length % 6));
    });
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 300 }),
    fc.array(grammar, { maxLength: 60 }).map((bits) => bits.join(" ")),
    mutated,
  );
  await fc.assert(
    fc.asyncProperty(text, async (line) => {
      const { risk, why } = await judgeCommand(line, nothing);

      expect(risk === "low").toBe(why === undefined);
      expect(why ?? "").not.toContain("\n");
    }),
    { numRuns: 1_500 },
  );
});

/** Words that bash makes something else of, so that no line with them is certain. */
const uncertain = fc.constantFrom(
  "$x",
  '"$x"',
  "${x}",
  "${x:-a}",
  "${!x}",
  "$(ls)",
  '"$(ls)"',
  "`ls`",
  "$((1))",
  "$[1]",
  "$'\\x61'",
  '$"a"',
  "<(ls)",
  ">(ls)",
  "{a,b}",
  "{1..3}",
  "~",
  "~/a",
  "~root",
  "*",
  "?a",
  "[a]*",
  "-*",
  "-[l]",
  "@(a|b)",
  "!(a)",
);

test("no line with an expansion, a substitution or a pattern in the place of an option is low", async () => {
  const place = fc.tuple(tableLine, uncertain, fc.nat()).map(([line, word, at]) => {
    const words = line.split(" ");
    // Not within quotes, where it would be text.
    if (/['"#\n<\\]/.test(line)) return `ls ${word}`;
    words.splice(1 + (at % words.length), 0, word);
    return words.join(" ");
  });
  await fc.assert(
    fc.asyncProperty(place, async (line) => {
      expect(await rank(line)).toBeGreaterThan(0);
    }),
    { numRuns: 1_500 },
  );
});

test("no line with an assignment, a function, a loop, a here-document, arithmetic or a nested command is low", async () => {
  const construct = fc.constantFrom(
    "x=1",
    "x=(a b)",
    "x=1 ls",
    "f() { ls; }",
    "for i in a; do ls; done",
    "while ls; do ls; done",
    "until ls; do ls; done",
    "case a in a) ls;; esac",
    "if ls; then ls; fi",
    "(ls)",
    "{ ls; }",
    "((1))",
    "[[ a ]]",
    "cat <<E\na\nE",
    "cat <<< a",
    "ls &",
    "! ls",
    "time ls",
    "coproc ls",
    "ls > a",
    ..."xargs env sh bash eval trap exec command time nohup timeout python3 node perl"
      .split(" ")
      .map((name) => `${name} ls`),
    "find . -exec ls",
  );
  await fc.assert(
    fc.asyncProperty(construct, tableLine, fc.boolean(), async (text, line, isFirst) => {
      expect(await rank(isFirst ? `${text}\n${line}` : `${line}\n${text}`)).toBeGreaterThan(0);
    }),
    { numRuns: 1_000 },
  );
});

test("a command beside a line, and quotes in it, never make it less risky", async () => {
  const quote = fc.constantFrom<(letter: string) => string>(
    (letter) => `\\${letter}`,
    (letter) => `'${letter}'`,
    (letter) => `"${letter}"`,
    (letter) => `${letter}''`,
    (letter) => `${letter}\\\n`,
    (letter) => letter,
  );
  const plain = fc.constantFrom(
    "rm -rf /",
    "curl x",
    "sudo ls",
    "touch a",
    "git push",
    "cat .env",
    "dd of=/dev/sda",
    "sort -o a",
  );
  await fc.assert(
    fc.asyncProperty(plain, fc.array(quote, { minLength: 16, maxLength: 16 }), async (line, quotes) => {
      const hidden = line
        .split("")
        .map((letter, at) => (letter === " " ? letter : (quotes[at]?.(letter) ?? letter)))
        .join("");

      expect(await rank(hidden)).toBeGreaterThanOrEqual(await rank(line));
      for (const text of [`ls; ${line}`, `${line}\nls`, `(${line})`, `if ls; then ${line}; fi`, `echo "$(${line})"`])
        expect(await rank(text)).toBeGreaterThanOrEqual(await rank(line));
    }),
    { numRuns: 300 },
  );
});

/** Shapes that are long, deep, or made of many small pieces. */
const pieces = [
  ..."( $( ` { a; a| a&& {a, {a.. [* @( <( a/ ../ a= : .e* .env~ a[ ~ _- a$ $[ $(( ((a+ [[ ${a:- \"$( 'a' \\\\ <<E; >a".split(
    " ",
  ),
  "if a; then ",
  "case a in a)",
  "f(){ ",
  "cd a; cat b; ",
  "cat a:b ",
  "xargs ",
  "a ",
  "-a ",
  "a\n",
  "s/a/b/;",
];
const starts = [
  "",
  "cat ",
  "cat .env",
  "cd a; cd b; cat ",
  "rm ",
  "find ",
  "sed ",
  "sed '",
  "awk '{",
  "jq '",
  "git -C a ",
];
const shape = (start: string, piece: string, length: number): string => (start + piece.repeat(length)).slice(0, length);

test("the work for a line is proportional to its length, and bounded", async () => {
  for (const start of starts)
    for (const piece of pieces) {
      const effort = async (length: number): Promise<number> => {
        const findings = new Findings();
        const nodes = await parseLine(shape(start, piece, length));
        if (typeof nodes === "string") return 0;
        expect(nodes.length).toBeLessThanOrEqual(200);
        judgeLine(nodes, nothing, findings);
        return findings.effort;
      };
      for (const length of [128, 256, 512, 1_024, 2_048, 4_096])
        expect({ start, piece, length, effort: await effort(length) }).toEqual({
          start,
          piece,
          length,
          effort: expect.toSatisfy((work: number) => work <= 32 + 8 * length && work <= 4_000),
        });
    }
});

/** Least own time of the process for judging these lines, of several tries: what else runs in it adds to the others. */
async function ownTime(lines: readonly string[]): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 3; run += 1) {
    const before = process.cpuUsage();
    for (const line of lines) {
      await judgeCommand(line, nothing);
      await scriptsIn(line);
    }
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

test("no line, up to the limits and beyond, takes as long as some hundreds of everyday ones", async () => {
  const everyday = await ownTime([...everydayLines, ...everydayLines]);
  for (const start of ["", "cd a; cat ", "sed '"])
    for (const piece of pieces)
      // The first is about as long as what is parsed of the densest text.
      for (const length of [790, 4_096]) {
        const time = await ownTime([shape(start, piece, length)]);
        expect({ start, piece, length, everyday, time }).toEqual({
          start,
          piece,
          length,
          everyday,
          time: expect.toSatisfy((own: number) => own <= everyday),
        });
      }
});
