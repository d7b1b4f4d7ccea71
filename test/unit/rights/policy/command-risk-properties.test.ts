import * as fc from "fast-check";
import { expect, test } from "vitest";

import { Findings } from "../../../../src/rights/policy/shell/findings.ts";
import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";
import { judgeText } from "../../../../src/rights/policy/shell/judge-text.ts";
import { everydayLines } from "../../../fixtures/commands/everyday.ts";
import { tableLine } from "../../../fixtures/commands/generated.ts";
import { hostileLines } from "../../../fixtures/commands/hostile.ts";

const nothing = { writableMount: false, egress: false, injectedSecrets: false };
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
    .tuple(anyLine, fc.nat(), fc.nat(), fc.oneof(grammar, fc.string({ unit: "binary", maxLength: 8 })))
    .map(([line, from, length, put]) => {
      const start = from % (line.length + 1);
      return line.slice(0, start) + put + line.slice(start + (length % 6));
    });
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
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
  "$'a'",
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

test("the work for a line is proportional to its length, and bounded", () => {
  const pieces = [
    ..."( $( ` { a; a| a&& {a, [* @( <( a/ a= : .e* a[ ~ _-".split(" "),
    "if a; then ",
    "cd a; cat b; ",
    "cat a:b ",
    "xargs ",
  ];
  for (const start of ["", "cat ", "cd a; cd b; cat ", "rm ", "find "])
    for (const piece of pieces) {
      const effort = (length: number): number => {
        const findings = new Findings();
        judgeText((start + piece.repeat(length)).slice(0, length), nothing, findings);
        return findings.effort;
      };
      for (const length of [128, 256, 512, 1_024, 2_048, 4_096])
        expect({ start, piece, length, effort: effort(length) }).toEqual({
          start,
          piece,
          length,
          effort: expect.toSatisfy((work: number) => work <= 32 + 8 * length && work <= 4_400),
        });
    }
});
