import { builtInAdapters } from "../../../src/config/adapters.ts";
import { expect, test } from "vitest";

import { riskOf } from "../../../src/tools/risk.ts";

async function judge(name: string, input: unknown, hasWritableMount = false): Promise<string> {
  const tool = builtInAdapters.tools.find((known) => known.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const { risk } = await riskOf(tool, input, {
    writableMount: hasWritableMount,
    egress: false,
    injectedSecrets: false,
  });
  return risk;
}

test.for([
  ["shell", { command: "ls -la" }, "low"],
  ["shell", { command: "touch a", timeout_s: 5 }, "medium"],
  ["shell", { command: "git push --force" }, "high"],
  ["shell", { command: "echo 'unclosed" }, "high"],
  ["shell", { command: ["ls"] }, "high"],
  ["shell", { command: "sleep 1000", background: true }, "low"],
  ["shell", { command: "git push --force", background: true }, "high"],
  ["jobs", { action: "list" }, "low"],
  ["jobs", { action: "output", id: "job-1aaaaa" }, "low"],
  ["jobs", { action: "stop", id: "job-1aaaaa" }, "medium"],
  ["jobs", { action: "other" }, "high"],
  ["read_file", { path: "notes.md" }, "low"],
  ["read_file", { path: "/workspace/extra/site/.env" }, "high"],
  ["read_file", { path: "/workspace/extra/site/.env.example" }, "low"],
  ["search_files", { pattern: "key", path: "/workspace/extra/me/.ssh" }, "high"],
  ["search_files", { pattern: "key" }, "low"],
  ["view_image", { path: "a.png" }, "low"],
  ["list_files", {}, "low"],
  ["browser", { action: "snapshot" }, "low"],
  ["browser", { action: "open", url: "https://example.org/" }, "medium"],
  ["browser", { action: "open", url: "file:///etc/passwd" }, "high"],
  ["browser", { action: "click", ref: "e1" }, "medium"],
  ["write_file", { path: "notes.md", content: "" }, "medium"],
  ["write_file", { path: "/workspace/group/AGENTS.md", content: "" }, "high"],
  ["write_file", { path: "/workspace/group/../extra/site/index.html", content: "" }, "high"],
  ["write_file", { path: "~/../../workspace/extra/site/index.html", content: "" }, "high"],
  ["write_file", { path: "/proc/self/root/workspace/extra/site/index.html", content: "" }, "high"],
  ["write_file", { path: "~/.cache/x", content: "" }, "medium"],
  ["edit_file", { path: "/workspace/extra/site/index.html", old_text: "a", new_text: "b" }, "high"],
  ["edit_file", { path: "/tmp/x", old_text: "a", new_text: "b" }, "medium"],
  ["send_message", { text: "hello" }, "low"],
  ["send_file", { path: "/workspace/group/a.pdf" }, "low"],
  ["react", { emoji: "👍" }, "low"],
  ["react", { emoji: 3 }, "high"],
] as const)("the risk of %s with %j is %s", async ([name, input, risk]) => {
  expect(await judge(name, input)).toBe(risk);
});

test("where a folder of the machine can be written to, a path that begins where the shell is may lead there", async () => {
  expect(await judge("write_file", { path: "index.html", content: "" }, true)).toBe("high");
  expect(await judge("write_file", { path: "/workspace/group/index.html", content: "" }, true)).toBe("medium");
});
