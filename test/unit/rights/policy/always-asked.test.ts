import * as fc from "fast-check";
import { expect, test } from "vitest";

import { resolveGroup } from "../../../../src/config/resolve-group.ts";
import { configSchema } from "../../../../src/config/schema/config.ts";
import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { actions } from "../../../../src/domain/rights/policy.ts";
import { judgeToolCall } from "../../../../src/tools/judge-tool-call.ts";
import { ToolRegistry } from "../../../../src/tools/registry.ts";

const registry = new ToolRegistry(builtInAdapters.tools);

/** Outcome of a proposal under this policy, and whether its tool is offered. */
async function proposing(
  policy: object,
  input: unknown = { content: "Be kind.\n" },
  role: "member" | "admin" = "member",
) {
  const config = configSchema(builtInAdapters).parse({ policy });
  const audience = {
    policy: resolveGroup(config, { name: "family" }).policy,
    channelCan: () => true,
    modelCallsTools: true,
    modelSees: true,
  };
  const provenance = { role, origins: [] };
  const call = { name: "propose_instructions", input };
  const stakes = { writableMount: false, egress: false, injectedSecrets: false };
  const { verdict } = await judgeToolCall(call, { registry, audience, stakes, provenance });
  const isOffered = registry.offer(audience).some(({ name }) => name === call.name);
  return { ...verdict, isOffered };
}

test("a proposal is asked whatever holds for all other tools", async () => {
  const anyway = [
    ...actions.map((action) => ({ default: action })),
    ...["safe", "standard", "open"].map((preset) => ({ preset })),
  ];
  for (const policy of [{}, ...anyway]) {
    expect(await proposing(policy)).toMatchObject({
      action: "ask",
      risk: "high",
      rule: "propose_instructions is always asked",
      isOffered: true,
    });
  }
});

test("a rule can deny it, and no rule can allow it unasked", async () => {
  const rule = fc.record(
    {
      tool: fc.constantFrom("*", "propose_instructions", ["shell", "propose_instructions"], "shell"),
      risk: fc.constantFrom("low", "medium", "high"),
      role: fc.constantFrom("<admin", ">=admin", "member"),
      action: fc.constantFrom(...actions),
    },
    { requiredKeys: ["action"] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { maxLength: 4 }),
      fc.constantFrom("member" as const, "admin" as const),
      async (rules, role) => {
        expect((await proposing({ rules }, undefined, role)).action).not.toBe("allow");
      },
    ),
  );
  expect(await proposing({ tools: { propose_instructions: "deny" } })).toMatchObject({
    action: "deny",
    isOffered: false,
  });
  const quorum = { rules: [{ tool: "propose_instructions", action: "ask", quorum: 2, approvers: "owner" }] };
  expect(await proposing(quorum)).toMatchObject({ action: "ask", quorum: 2, approvers: "owner" });
});

test.each([
  ["no content", {}, "content"],
  ["more than the model would be shown", { content: "x".repeat(32_001) }, "content"],
  ["half a character", { content: "\ud800" }, "half a character"],
  ["another file", { content: "x", file: "SOUL.md" }, "file"],
])("nobody is asked about a proposal that cannot be: %s", async (_case, input, said) => {
  expect(await proposing({}, input)).toMatchObject({ action: "deny", reason: expect.stringContaining(said) as string });
});
