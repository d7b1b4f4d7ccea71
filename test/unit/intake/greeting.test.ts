import { expect, test } from "vitest";

import { greetingFor } from "../../../src/intake/chats/greeting.ts";

test("a chat that becomes a group is told what the agent can do there, how to call it and how to stop it", () => {
  const text = greetingFor("crab", () => true);

  expect(text).toContain("I can read the files that you send, run programs in a sandbox of this group's own, and send");
  expect(text).toContain("Write @crab");
  expect(text).toContain("/stop cancels my work");
  expect(text).toContain("/help");
  expect(text.length).toBeLessThan(350);
});

test("it is not told about what the policy denies", () => {
  const withoutShell = greetingFor("crab", (tool) => tool !== "shell");
  const withoutTools = greetingFor("crab", () => false);

  expect(withoutShell).not.toContain("programs");
  expect(withoutTools).not.toContain("I can");
});
