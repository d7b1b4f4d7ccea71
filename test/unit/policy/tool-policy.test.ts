import { expect, test } from "vitest";

import { judgeToolCall } from "../../../src/policy/tool-policy.ts";

test("a tool that is not named gets the default verdict", () => {
  expect(judgeToolCall({ name: "shell" }, { default: "allow", tools: {} }).verdict).toBe("allow");
  expect(judgeToolCall({ name: "shell" }, { default: "deny", tools: {} }).verdict).toBe("deny");
});

test("a named tool overrides the default in both directions", () => {
  const policy = { default: "deny", tools: { read_file: "allow", shell: "deny" } } as const;

  expect(judgeToolCall({ name: "read_file" }, policy).verdict).toBe("allow");
  expect(judgeToolCall({ name: "shell" }, { ...policy, default: "allow" }).verdict).toBe("deny");
});
