import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { rollDice } from "../fixtures/guides/roll-dice.ts";
import type { HostTool } from "../../src/tools/define-tool.ts";
import { examplePlugins, openPluginRig, type PluginRig } from "../support/plugins.ts";
import { testTool } from "crabpot/contracts";

const good = { town: "Rome" };
let rig: PluginRig;

beforeAll(async () => {
  rig = await openPluginRig({ sources: [join(examplePlugins, "weather")] });
  // Its process starts with its first use, and is one for all tests.
  const place = { group: "main", turn: "turn-1", signal: new AbortController().signal };
  await rig.plugins.tools[0]?.run(good, place as unknown as Parameters<HostTool["run"]>[1]);
});
afterAll(() => rig[Symbol.asyncDispose]());

testTool("the tool of a plugin", async () => {
  const tool = rig.plugins.tools[0] as HostTool;
  return { tool, good, bad: { town: "rome" } };
});

testTool("a tool of the guide", async () => ({ tool: rollDice, good: { dice: 2 }, bad: { dice: 0 } }));

function own(file: string): string {
  return readFileSync(join(examplePlugins, "weather", file), "utf8");
}

test("docs/plugins.md shows the plugin that these tests run", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/plugins.md"), "utf8");
  const shown = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(page)?.[1] ?? "";

  expect(shown("js")).toBe(own("index.js"));
  const { description: _, ...facts } = JSON.parse(own("package.json")) as Record<string, unknown>;
  expect(JSON.parse(shown("json"))).toEqual(facts);
});
