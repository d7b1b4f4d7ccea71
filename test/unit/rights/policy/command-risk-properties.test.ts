import * as fc from "fast-check";
import { expect, test } from "vitest";

import { judgeCommand } from "../../../../src/rights/policy/shell/judge-command.ts";
import { lines } from "./command-lines.ts";

const ranks = { low: 0, medium: 1, high: 2 };

async function rank(text: string): Promise<number> {
  return ranks[(await judgeCommand(text)).risk];
}

/** A line for one shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Does it end with a backslash that no other one takes away? */
function isContinued(text: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(text);
}

const anyLine = fc.constantFrom(...lines);
const lowLine = fc.constantFrom("ls", "echo hi", "cat a.txt", "grep x a | sort", "x=1", "[ -f a ]", "(pwd; date)");
const grammar = fc.constantFrom(
  ..."$ ( ) { } [ ] ` ' \" \\ ; & | < > # ~ * ? ! = : - / \n \t a rm if then fi do done case in esac for << <<- $( $(( ${ $' }; )) ]] [[ 2>&1".split(
    " ",
  ),
);

/** Text of a valid line that was cut, doubled, or had something put into it. */
const mutated = fc
  .tuple(anyLine, fc.nat(), fc.nat(), fc.oneof(grammar, fc.string({ unit: "binary", maxLength: 8 })))
  .map(([line, from, length, put]) => {
    const start = from % (line.length + 1);
    return line.slice(0, start) + put + line.slice(start + (length % 6));
  });

test("any text gets a judgement: none is thrown at, and only what is whole is low", async () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.array(grammar, { maxLength: 60 }).map((bits) => bits.join("")),
    fc.array(grammar, { maxLength: 60 }).map((bits) => bits.join(" ")),
    mutated,
  );
  await fc.assert(
    fc.asyncProperty(text, async (line) => {
      const { risk, parsed, reasons } = await judgeCommand(line);

      expect(risk === "low").toBe(reasons.length === 0);
      expect({ whole: ["low", "medium", "high"], partly: ["medium", "high"], not: ["high"] }[parsed]).toContain(risk);
    }),
    { numRuns: 3_000 },
  );
});

test("a harmless command beside a line never makes the line less risky", async () => {
  await fc.assert(
    fc.asyncProperty(anyLine, lowLine, async (line, low) => {
      const risk = await rank(line);

      expect(await rank(`${line}\n${low}`)).toBeGreaterThanOrEqual(risk);
      expect(await rank(`${low}; ${line}`)).toBeGreaterThanOrEqual(risk);
      expect(await rank(`${line}; ${low}`)).toBeGreaterThanOrEqual(risk);
    }),
    { numRuns: 600 },
  );
});

test("a line in a subshell, a group, a substitution or another shell is never less risky", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyLine, mutated), async (line) => {
      const { risk, parsed } = await judgeCommand(line);
      const given = [`bash -c ${quoted(line)}`, `sh -ec ${quoted(line)}`, `eval ${quoted(line)}`];
      const around = [
        `(${line}\n)`,
        `( ${line} )`,
        `{ ${line}\n}`,
        `{ ${line}; }`,
        `echo "$(${line}\n)"`,
        `cat <(${line}\n)`,
        `if true; then ${line}\nfi`,
        `f() { ${line}\n}`,
        `time -p ${line}`,
        `! ${line}`,
      ];
      // What cannot be parsed, such as `ls )`, can become another line by what stands around it, and so does what takes
      // the line break after it along, such as `\`.
      for (const text of parsed === "not" || isContinued(line) ? given : [...given, ...around]) {
        const other = await judgeCommand(text);

        expect({ text, risk: other.risk }).toEqual({
          text,
          risk: expect.toSatisfy((found: keyof typeof ranks) => ranks[found] >= ranks[risk]),
        });
      }
    }),
    { numRuns: 400 },
  );
});

test("quotes in the name of a command never make it less risky", async () => {
  const named = fc.constantFrom(
    "rm -rf /",
    "rm a",
    "curl x",
    "git push",
    "sudo ls",
    "kill -9 -1",
    "bash -c 'rm a'",
    "touch a",
    "find . -delete",
  );
  const quote = fc.constantFrom(
    (letter: string) => `\\${letter}`,
    (letter: string) => `'${letter}'`,
    (letter: string) => `"${letter}"`,
    (letter: string) => `$'${letter}'`,
    (letter: string) => `$'\\x${letter.charCodeAt(0).toString(16)}'`,
    (letter: string) => `${letter}''`,
    (letter: string) => `${letter}\\\n`,
    (letter: string) => letter,
  );
  await fc.assert(
    fc.asyncProperty(named, fc.array(quote, { minLength: 8, maxLength: 8 }), async (line, quotes) => {
      const [name = "", ...rest] = line.split(" ");
      const hidden = name
        .split("")
        .map((letter, index) => quotes[index]?.(letter) ?? letter)
        .join("");

      expect(await rank([hidden, ...rest].join(" "))).toBeGreaterThanOrEqual(await rank(line));
    }),
    { numRuns: 600 },
  );
});

test("text that is made to hold up the parser is judged in a moment", async () => {
  await judgeCommand("ls");
  const pieces = [
    "(",
    "$(",
    '"$(',
    "<(",
    "${x:-",
    "${x/",
    "`",
    "{ ",
    "if ",
    "<<E ",
    "$((",
    "{a,",
    "a|",
    "@(",
    "$((x$(",
    "f()",
    "a[",
    "x=( ",
    "a;",
    "cat <<$(",
    "s/a/",
    "{a,b}",
    "*?",
    "bash -c '",
    "cd ..;",
  ];
  for (const piece of pieces) {
    for (const start of ["", "echo ", "sed '", "cat .e"]) {
      const text = (start + piece.repeat(16_384)).slice(0, 16_384);
      const before = process.cpuUsage();
      await judgeCommand(text);
      const { user } = process.cpuUsage(before);
      // Some 100 ms, and seconds where nothing bounds it.
      expect({ text: text.slice(0, 20), ms: user / 1_000 }).toEqual({
        text: text.slice(0, 20),
        ms: expect.toSatisfy((ms: number) => ms < 1_000),
      });
    }
  }
});

async function words(line: string): Promise<unknown> {
  return (await judgeCommand(line)).commands.map((command) => command.words);
}

test("what a line runs is told word by word, so that a push can be told from a forced one", async () => {
  expect(await words("git push")).toEqual([["git", "push"]]);
  expect(await words("git push --force")).toEqual([["git", "push", "--force"]]);
  expect(await words("'git' pu\\sh \"--\"force")).toEqual([["git", "push", "--force"]]);
  expect(await words("timeout 5 git push $X | tee log")).toEqual([
    ["timeout", "5", "git", "push", undefined],
    ["git", "push", undefined],
    ["tee", "log"],
  ]);
});

test("a backslash at the end is a letter, as bash reads it; before a line break it removes the break and itself", async () => {
  expect(await words("echo a\\")).toEqual([["echo", "a\\"]]);
  expect(await words("echo a\\\n b")).toEqual([["echo", "a", "b"]]);
  expect(await words("r\\\nm -rf /")).toEqual([["rm", "-rf", "/"]]);
  expect((await judgeCommand("\\")).risk).toBe("medium");
  expect((await judgeCommand('echo "$(\\\n)"')).risk).toBe("low");
  expect((await judgeCommand('echo "$(\\\nrm -rf /)"')).risk).toBe("high");
});
