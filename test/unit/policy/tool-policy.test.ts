import { expect, test } from "vitest";

import { judgeToolCall } from "../../../src/policy/tool-policy.ts";

test("a tool that is not named gets the default verdict", () => {
  expect(judgeToolCall({ name: "shell", risk: "high" }, { default: "allow", tools: {} }).verdict).toBe("allow");
  expect(judgeToolCall({ name: "shell", risk: "high" }, { default: "deny", tools: {} }).verdict).toBe("deny");
});

test("a named tool overrides the default in both directions", () => {
  const policy = { default: "deny", tools: { read_file: "allow", shell: "deny" } } as const;

  expect(judgeToolCall({ name: "read_file", risk: "low" }, policy).verdict).toBe("allow");
  expect(judgeToolCall({ name: "shell", risk: "high" }, { ...policy, default: "allow" }).verdict).toBe("deny");
});

test("a tool that people are asked about says by which rule, and how risky the call is", () => {
  const policy = { default: "ask", tools: { shell: "ask" } } as const;

  expect(judgeToolCall({ name: "shell", risk: "high" }, policy)).toEqual({
    verdict: "ask",
    rule: "policy.tools.shell",
    risk: "high",
  });
  expect(judgeToolCall({ name: "read_file", risk: "low" }, policy)).toMatchObject({ rule: "policy.default" });
});
