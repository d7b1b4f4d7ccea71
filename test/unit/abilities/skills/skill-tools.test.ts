import { execFile } from "node:child_process";
import { promisify } from "node:util";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { readSkillTools } from "../../../../src/abilities/skills/format/parse-skill-tools.ts";
import type { SkillTree } from "../../../../src/abilities/skills/tree/skill-tree.ts";
import { toCommandTool } from "../../../../src/tools/skills/command-tool.ts";

const run = promisify(execFile);

function file(path: string, text: string, isExecutable = false): SkillTree["files"][number] {
  return { path, bytes: Buffer.from(text), isExecutable };
}

function treeOf(toml: string): SkillTree {
  return {
    files: [
      file("SKILL.md", "x"),
      file("SKILL.toml", toml),
      file("scripts/brew", "x", true),
      file("scripts/notes.txt", "x"),
      file("scripts/pour.py", "x"),
    ],
  };
}

/** One tool with these lines. */
function toolWith(...lines: string[]): string {
  return ["[[tools]]", 'name = "boil"', 'description = "Boils."', ...lines].join("\n");
}

async function faultOf(toml: string): Promise<string> {
  const read = await readSkillTools("tea", treeOf(toml));
  return read.ok ? "" : read.faults.map(({ path, detail }) => `${path}: ${detail}`).join("; ");
}

async function commandOf(toml: string, input: object): Promise<string> {
  const read = await readSkillTools("tea", treeOf(toml));
  const [tool] = read.ok ? read.tools : [];
  if (!tool) throw new Error(JSON.stringify(read));
  return toCommandTool(tool, []).commandOf(input).command;
}

test("a SKILL.toml as others write it becomes tools, each with its schema, its risk and its time", async () => {
  const toml = `
[skill]
name = "tea"
description = "All about tea"
version = "0.1.0"
author = "ann"
tags = ["drinks"]

[[tools]]
name = "boil"
description = "Boils water."
kind = "shell"
command = "echo boil {{minutes}} {{pot}}"
args = { minutes = "For how long", pot = { description = "In what", enum = ["blue", "red"], default = "red" } }

[[tools]]
name = "brew"
description = "Brews."
kind = "script"
command = "scripts/brew --for {{minutes}}"
risk = "low"
timeout_s = 5
[tools.args.minutes]
type = "integer"
description = "For how long"
`;
  const read = await readSkillTools("tea", treeOf(toml));
  const tools = read.ok ? read.tools.map((tool) => toCommandTool(tool, [])) : [];

  expect(tools).toMatchObject([
    { name: "tea__boil", description: "Boils water. (of the skill tea)", leastRisk: "medium", timeoutSeconds: 150 },
    { name: "tea__brew", leastRisk: "low", timeoutSeconds: 35 },
  ]);
  expect(tools[0]?.commandOf({ minutes: "3" })).toEqual({ command: "echo boil '3' 'red'", timeout_s: 120 });
  expect(tools[1]?.commandOf({ minutes: -3 }).command).toBe("/workspace/skills/tea/scripts/brew --for '-3'");
  expect(() => tools[0]?.commandOf({ minutes: "3", pot: "green" })).toThrow("pot");
  expect(() => tools[0]?.commandOf({ minutes: "3", more: 1 })).toThrow("more");
  expect(() => tools[1]?.commandOf({ minutes: "3; id" })).toThrow("minutes");
});

function script(command: string): string {
  return toolWith('kind = "script"', `command = "${command}"`);
}

test("scripts run as their ending or their mode says", async () => {
  expect(await commandOf(script("./scripts/brew"), {})).toBe("/workspace/skills/tea/scripts/brew");
  expect(await commandOf(script("scripts/pour.py --now"), {})).toBe(
    "python3 /workspace/skills/tea/scripts/pour.py --now",
  );
});

const shell = (command: string): string =>
  toolWith('kind = "shell"', `command = '''${command}'''`, 'args = { x = "Something" }');

test.each([
  ["not TOML", "tools = [", "not valid TOML"],
  ["an unknown key", toolWith('kind = "shell"', 'command = "ls"', "sudo = true"), "sudo"],
  ["an unknown kind", toolWith('kind = "rust"', 'command = "ls"'), "kind"],
  ["a wrong name", '[[tools]]\nname = "a__b"\ndescription = "x"\nkind = "shell"\ncommand = "ls"', "may hold a to z"],
  ["two of one name", `${shell("ls {{x}}")}\n${shell("cat {{x}}")}`, "two tools of this name"],
  ["a name that is too long", shell("ls {{x}}").replace("boil", "b".repeat(60)), "longer than 64"],
  ["another skill's", '[skill]\nname = "coffee"', 'is "coffee", and SKILL.md says "tea"'],
  ["an argument that is not used", shell("ls"), "args has x"],
  ["an argument that there is not", shell("ls {{x}} {{y}}"), "args has no y"],
  [
    "a default that does not fit",
    toolWith(
      'kind = "shell"',
      'command = "ls {{x}}"',
      'args.x = { type = "integer", description = "x", default = "a" }',
    ),
    "default does not fit",
  ],
  ["a script that there is not", toolWith('kind = "script"', 'command = "../brew"'), 'there is no "../brew"'],
  ["a script that cannot be run", toolWith('kind = "script"', 'command = "scripts/notes.txt"'), "cannot be run"],
  [
    "an address of any host",
    toolWith('kind = "http"', 'command = "https://{{x}}/a"', 'args = { x = "x" }'),
    "host is written out",
  ],
  [
    "an address whose host goes on",
    toolWith('kind = "http"', 'command = "https://tea.example{{x}}/a"', 'args = { x = "x" }'),
    "host is written out",
  ],
  ["an address of a file", toolWith('kind = "http"', 'command = "file:///etc/passwd"'), "host is written out"],
  ["an address with quotes", toolWith('kind = "http"', `command = "https://tea.example/'a"`), "quotes"],
])("a SKILL.toml with %s is refused", async (_what, toml, words) => {
  expect(await faultOf(toml)).toContain(words);
});

test.each([
  'echo "{{x}}"',
  "echo '{{x}}'",
  "echo \\{{x}}",
  'echo "a"\\{{x}}',
  "echo $'{{x}}'",
  "echo ${HOME:-{{x}}}",
  "echo $(({{x}}))",
  "echo ${{x}}",
  "[[ {{x}} -eq 1 ]]",
  "test -v {{x}}",
  "eval {{x}}",
  "export A={{x}}",
  "A={{x}} ls",
  "{{x}}",
  "{{x}} -l",
  "ls > {{x}}",
  "ls # {{x}}",
  "cat <<E\n{{x}}\nE",
  "echo `echo {{x}}`",
  "echo {a,{{x}}}",
  "for i in {{x}}; do ls; done",
  "case {{x}} in a) ls;; esac",
  'bash -c "echo {{x}}"',
])("a command in which a value would not be plain text is refused: %s", async (command) => {
  expect(await faultOf(shell(command))).toMatch(/not be plain text|backticks|is no valid command line/);
});

test("whatever the values are, bash gets each of them as the words that the author wrote, and runs nothing of them", async () => {
  const toml = toolWith(
    'kind = "shell"',
    "command = '''printf '%s\\0' -- {{x}} --name={{y}} a{{x}}\"b\"{{y}} \"$(printf -- '%s' {{y}} ; echo .)\"'''",
    'args = { x = "One", y = "Two" }',
  );
  const read = await readSkillTools("tea", treeOf(toml));
  const [tool] = read.ok ? read.tools.map((each) => toCommandTool(each, [])) : [];
  const nasty = fc.constantFrom(
    "'",
    '"',
    "`id`",
    "$(id)",
    "; id",
    "\n",
    "\\",
    "'\\''",
    "*",
    "~",
    "!",
    "{a,b}",
    "&& id",
    "#",
    "-",
  );
  const text = fc
    .array(fc.oneof(nasty, fc.string({ unit: "grapheme", maxLength: 5 })), { maxLength: 6 })
    .map((all) => all.join(""));

  await fc.assert(
    fc.asyncProperty(text, text, async (x, y) => {
      fc.pre(!`${x}${y}`.includes("\0"));
      const { command = "" } = tool?.commandOf({ x, y }) ?? {};
      const { stdout } = await run("bash", ["-c", command], { encoding: "buffer" });
      const words = stdout.toString().split("\0").slice(0, -1);
      // What is filled in by $(…) loses nothing here: it ends with a dot.
      expect(words).toEqual(["--", x, `--name=${y}`, `a${x}b${y}`, `${y}.`]);
    }),
    { numRuns: 100 },
  );
});

test("a value that a program would take for an option is refused, where the author has not ended the options", async () => {
  const option = { x: "--output=/workspace/group/AGENTS.md" };

  await expect(commandOf(shell("git log {{x}}"), option)).rejects.toThrow("begins with a hyphen");
  await expect(commandOf(shell("git log {{x}}"), { x: "a\0b" })).rejects.toThrow("NUL");
  expect(await commandOf(shell("git log -- {{x}}"), option)).toBe(`git log -- '${option.x}'`);
  expect(await commandOf(shell("git log --grep={{x}}"), option)).toBe(`git log --grep='${option.x}'`);
});

test("a value stays in its place of an address", async () => {
  const http = toolWith(
    'kind = "http"',
    'command = "https://tea.example/kinds/{{x}}?q={{x}}"',
    'args = { x = "Kind" }',
  );
  const command = await commandOf(http, { x: "a/../b?c#d&e='f $(id)" });

  expect(command).toContain("-- 'https://tea.example/kinds/a%2F..%2Fb%3Fc%23d%26e%3D'\\''f%20%24(id)?q=");
  await expect(commandOf(http, { x: ".." })).rejects.toThrow("another address");
});
