import { expect, test } from "vitest";

import { describeActivity } from "../../../src/tools/activity.ts";
import { builtInTools } from "../../../src/tools/catalog.ts";

const call = (name: string, input: unknown = {}) => ({ id: "1", name, input });
const asIs = (text: string): string => text;

test("members are told what the tools do, with what, and how many there are", () => {
  expect(describeActivity([call("shell", { command: "npm test\nrm x" })], asIs)).toBe("running a command (npm test)");
  expect(describeActivity([call("read_file", { path: "/workspace/group/a.md" }), call("shell")], asIs)).toBe(
    "reading a file (a.md) and 1 more",
  );
  expect(describeActivity([call("dice", { sides: 6 })], asIs)).toBe("using dice");
  expect(describeActivity([], asIs)).toBe("thinking");
});

test("secrets are taken out before the text is cut, and what the model gives instead of a text is left out", () => {
  const command = `curl -H ${"x".repeat(25)} secret-of-the-group`;
  const told = describeActivity([call("shell", { command })], (text) =>
    text.replace("secret-of-the-group", "[redacted]"),
  );

  expect(told).not.toContain("secret");
  expect(describeActivity([call("shell", { command: { $: 1 } }), call("shell", null)], asIs)).toBe(
    "running a command and 1 more",
  );
});

test("every tool that comes with crabpot has words of its own", () => {
  expect(
    builtInTools.map(({ name }) => describeActivity([call(name)], asIs)).filter((words) => words.startsWith("using")),
  ).toEqual([]);
});
