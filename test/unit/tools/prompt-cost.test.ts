import { builtInAdapters } from "../../../src/config/adapters.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { estimatePromptTokens } from "../../../src/turns/context/tokens.ts";
import { groupAbilities } from "../../../src/domain/settings/group-ability.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { rightsOf } from "../../../src/tools/sessions/session-rights.ts";
import { slimSchema } from "../../../src/tools/slim-schema.ts";

const everything = {
  policy: { rules: [{ name: "all", action: "allow" }] },
  channelCan: () => true,
  modelCallsTools: true,
  modelSees: true,
  has: new Set(groupAbilities),
} as const;
const registry = new ToolRegistry(builtInAdapters.tools);

function cost(audience: Parameters<typeof registry.offer>[0]): number {
  return estimatePromptTokens({ system: [], messages: [], tools: registry.offer(audience) });
}

test("all built-in tools together, and those of an ordinary group, stay below what a prompt may pay for them", () => {
  const ordinary = { ...everything, has: undefined };

  expect(registry.offer(everything)).toHaveLength(builtInAdapters.tools.length);
  expect(cost(everything)).toBeLessThan(7_150);
  expect(cost(ordinary)).toBeLessThan(4_500);
  // A sub-agent pays for nothing that it may not use.
  expect(cost({ ...ordinary, rights: rightsOf("agent", { spawns: false }) })).toBeLessThan(2_450);
});

test("what has a default may be left out, and no tool lost a field, a word about one, or a choice", () => {
  const spawn = registry.offer(everything).find(({ name }) => name === "spawn_agent");

  expect(spawn?.inputSchema["required"]).toEqual(["task"]);
  expect(spawn?.inputSchema["properties"]).toMatchObject({ context: { enum: ["none", "summary", "fork"] } });
  for (const { name, inputSchema } of registry.offer(everything)) {
    const shape = Object.keys(registry.get(name)?.input.shape ?? {});
    expect([name, ...Object.keys(inputSchema["properties"] as object)]).toEqual([name, ...shape]);
  }
});

test("a field may be called like a keyword", () => {
  fc.assert(
    fc.property(fc.constantFrom("pattern", "maxLength", "$schema", "properties", "description"), (name) => {
      const schema = { type: "object", properties: { [name]: { type: "string", maxLength: 3 } }, maxLength: 7 };
      expect(slimSchema(schema)).toEqual({ type: "object", properties: { [name]: { type: "string" } } });
    }),
  );
});
