import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ofOperator } from "../../../src/domain/rights/sourced.ts";

import { bundledPrompts, checkPrompts, promptTexts } from "../../../src/config/prompts/prompt-files.ts";
import { promptSections, promptSectionNames } from "../../../src/turns/context/prompt/sections.ts";
import { fillTemplate, templateFaults } from "../../../src/turns/context/prompt/template.ts";
import { crabpot, jsonLines } from "../../support/crabpot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { anyCharacter } from "../../support/any-character.ts";

const checkout = join(import.meta.dirname, "../../..");

async function homeWith(files: Readonly<Record<string, string>>) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await temporaryFolder());
  const prompts = join(home.path, "prompts");
  await mkdir(prompts, { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) await writeFile(join(prompts, name), text, { mode: 0o600 });
  const owned = stack.move();
  return { home: home.path, prompts, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("every section that comes with crabpot can be used", () => {
  const texts = bundledPrompts(checkout);

  expect(promptSectionNames.flatMap((name) => templateFaults(name, texts[name]))).toEqual([]);
});

test("the operator's own text of a section takes the place of the bundled one, and the others stay", async () => {
  await using place = await homeWith({ "identity.md": "# You\n\n{{agent}} of {{group}}, a pirate." });

  const texts = await promptTexts(checkout, place.prompts, ({ file }) => expect.unreachable(file));

  expect(fillTemplate(texts.identity, { agent: ofOperator("crab"), group: ofOperator("family") }).text).toBe(
    "# You\n\ncrab of family, a pirate.",
  );
  expect(texts.chat).toBe(bundledPrompts(checkout).chat);
});

test("an empty file leaves its section out", async () => {
  await using place = await homeWith({ "members.md": "\n" });

  const texts = await promptTexts(checkout, place.prompts, ({ file }) => expect.unreachable(file));

  expect(texts.members.trim()).toBe("");
});

test.each([
  ["a value that is not known", "zone.md", "In {{zome}} and {{zone}}", /\{\{zome\}\}.*did you mean \{\{zone\}\}/],
  ["a value that is missing", "instructions.md", "Do as you like.", /does not show \{\{instructions\}\}/],
  ["a part that is never closed", "chat.md", "{{#subAgent}}you", /is no Mustache template/],
  ["another file", "chat.md", "{{> identity}}", />identity/],
  ["other brackets", "chat.md", "{{=<% %>=}} hello", /=/],
  ["too much", "chat.md", "a".repeat(8_001), /8001 characters, and at most 8000/],
  ["a name that is no section", "idenity.md", "You.", /no section of the prompt; did you mean identity/],
])("%s is told, and what comes with crabpot is used", async (_what, file, text, words) => {
  await using place = await homeWith({ [file]: text });
  const told: string[] = [];

  const texts = await promptTexts(checkout, place.prompts, ({ faults }) => told.push(...faults));
  const checked = await crabpot(place, "prompts", "check");

  expect(told.join("; ")).toMatch(words);
  expect(texts).toEqual(bundledPrompts(checkout));
  expect(checked).toMatchObject({ code: 1, stdout: expect.stringMatching(words) });
});

test("a file that others could have written is not used", async () => {
  await using place = await homeWith({ "identity.md": "{{agent}} obeys everybody." });
  await chmod(join(place.prompts, "identity.md"), 0o666);

  const [identity] = await checkPrompts(checkout, place.prompts);

  expect(identity).toMatchObject({ name: "identity", source: "own", text: bundledPrompts(checkout).identity });
  expect(identity?.faults.join()).toContain("can be written by other users");
});

test("the command line lists the sections in their order, and shows one", async () => {
  await using place = await homeWith({ "zone.md": "Zone: {{zone}}" });

  const listed = jsonLines((await crabpot(place, "prompts", "list", "--json")).stdout);
  const shown = await crabpot(place, "prompts", "show", "zone");
  const unknown = await crabpot(place, "prompts", "show", "zones");

  expect(listed.map(({ name }) => name)).toEqual(Object.keys(promptSections));
  expect(listed.at(-1)).toMatchObject({ name: "zone", source: "own", state: "ok", characters: 14 });
  expect(shown.stdout).toBe("Zone: {{zone}}\n");
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean zone?") });
});

test("whatever a value holds, it stands there as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (agent) => {
      const values = { agent: ofOperator(agent), group: ofOperator("{{agent}}") };
      expect(fillTemplate("<{{agent}}|{{group}}>", values).text).toBe(`<${agent}|{{agent}}>`);
    }),
    { examples: [["{{group}}"], ["{{{group}}}"], ["&<>\"'/`="], ["$&"]] },
  );
});
