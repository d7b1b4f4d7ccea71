import { builtInAdapters } from "../../../src/config/adapters.ts";
import { expect, test } from "vitest";
import * as z from "zod";

import { describeActivity } from "../../../src/tools/activity.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { countWords } from "../../fixtures/guides/count-words.ts";
import { rollDice } from "../../fixtures/guides/roll-dice.ts";

const plain = definePluginTool({
  name: "plain",
  description: "Has no words for members.",
  input: z.strictObject({}),
  runs: "host",
  risk: "low",
  timeoutSeconds: 1,
  run: async () => "",
});

const registry = new ToolRegistry(builtInAdapters.tools, [rollDice, countWords, plain]);
const call = (name: string, input: unknown = {}) => ({ id: "1", name, input });

function describe(calls: ReturnType<typeof call>[], redact = (text: string): string => text): string {
  return describeActivity(calls, { registry, redact });
}

test("members are told what the tools do, with what, and how many there are", () => {
  expect(describe([call("shell", { command: "npm test\nrm x" })])).toBe("running a command (npm test)");
  expect(describe([call("read_file", { path: "/workspace/group/a.md" }), call("shell")])).toBe(
    "reading a file (a.md) and 1 more",
  );
  expect(describe([])).toBe("thinking");
});

test("a tool from outside is told in its own words, or by its name if it has none or is gone", () => {
  expect(describe([call("roll_dice", { dice: 3 })])).toBe("rolling dice");
  expect(describe([call("count_words", { path: "notes.md" })])).toBe("counting words (notes.md)");
  expect(describe([call("plain")])).toBe("using plain");
  expect(describe([call("gone")])).toBe("using gone");
});

test("secrets are taken out before the text is cut, and what the model gives instead of a text is left out", () => {
  const command = `curl -H ${"x".repeat(25)} secret-of-the-group`;
  const told = describe([call("shell", { command })], (text) => text.replace("secret-of-the-group", "[redacted]"));

  expect(told).not.toContain("secret");
  expect(describe([call("shell", { command: { $: 1 } }), call("shell", null)])).toBe("running a command and 1 more");
});

test("every tool that comes with crabpot has its own words", () => {
  expect(builtInAdapters.tools.filter(({ activity }) => activity === undefined).map(({ name }) => name)).toEqual([]);
});
