import { expect, test } from "vitest";

import { judgeToolCall } from "../../../src/policy/tool-policy.ts";

const known = new Set(["shell", "read_file"]);

test("a tool that is not named gets the default verdict", () => {
  expect(judgeToolCall({ name: "shell" }, { default: "allow", tools: {} }, known).verdict).toBe("allow");
  expect(judgeToolCall({ name: "shell" }, { default: "deny", tools: {} }, known).verdict).toBe("deny");
});

test("a named tool overrides the default in both directions", () => {
  const policy = { default: "deny", tools: { read_file: "allow", shell: "deny" } } as const;

  expect(judgeToolCall({ name: "read_file" }, policy, known).verdict).toBe("allow");
  expect(judgeToolCall({ name: "shell" }, { ...policy, default: "allow" }, known).verdict).toBe("deny");
});

test("a tool that does not exist is refused even under allow, and the model is told which exist", () => {
  const decision = judgeToolCall({ name: "constructor" }, { default: "allow", tools: {} }, known);

  expect(decision).toEqual({ verdict: "deny", reason: expect.stringContaining("shell, read_file") as string });
});
