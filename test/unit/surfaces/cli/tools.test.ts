import { expect, test } from "vitest";
import { stringify } from "yaml";

import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";

const config = stringify({
  models: {
    routes: { main: ["offline/scripted"], small: ["local/tiny"] },
    providers: { local: { kind: "openai", apiKey: "k", baseUrl: "http://localhost:1/v1" } },
    capabilities: { "local/tiny": { tools: false } },
  },
  policy: { tools: { send_file: "deny" } },
  groups: {
    family: { channel: "terminal", chat: "family", policy: { tools: { shell: "deny", send_file: "allow" } } },
    quiet: {
      channel: "terminal",
      chat: "quiet",
      model: "small",
      policy: { rules: [{ tool: "*", action: "deny" }] },
    },
  },
});

test("tools list says which tools there are and which are offered, without a host", async () => {
  await using place = await newHome({ "config.yaml": config });

  const { code, stdout } = await crabpot(place, "tools", "list", "--json");
  const listed = jsonLines(stdout);

  expect(code).toBe(0);
  expect(listed.map(({ name }) => name)).toEqual([
    "agent_cancel",
    "agent_message",
    "agent_status",
    "browser",
    "cancel_task",
    "edit_file",
    "get_available_agents",
    "get_available_skills",
    "get_skill_content",
    "get_skills_for_task",
    "jobs",
    "list_files",
    "list_tasks",
    "memory_forget",
    "memory_search",
    "memory_store",
    "propose_instructions",
    "propose_skill",
    "react",
    "read_file",
    "read_result",
    "request_packages",
    "run_task",
    "schedule_task",
    "search_files",
    "send_file",
    "send_message",
    "send_voice",
    "sessions_history",
    "sessions_list",
    "sessions_send",
    "sessions_spawn",
    "shell",
    "spawn_agent",
    "update_task",
    "view_image",
    "web_fetch",
    "web_search",
    "write_file",
  ]);
  expect(listed).toContainEqual({
    name: "shell",
    runs: "container",
    risk: "by input",
    policy: { low: "allow", medium: "allow", high: "allow" },
    timeoutSeconds: 3630,
    offered: true,
  });
  expect(listed).toContainEqual(
    expect.objectContaining({ name: "send_file", offered: false, reason: "the policy denies it" }),
  );
  expect(listed).toContainEqual(
    expect.objectContaining({
      name: "view_image",
      offered: false,
      reason: "no model of the route can be shown images",
    }),
  );
  expect(listed).toContainEqual(
    expect.objectContaining({ name: "react", offered: true, reason: "if the channel supports reactions" }),
  );
});

test("tools list --group goes by the group's own policy and models", async () => {
  await using place = await newHome({ "config.yaml": config });

  const family = await crabpot(place, "tools", "list", "--group", "family");
  const quiet = await crabpot(place, "tools", "list", "--group", "quiet", "--json");
  const unknown = await crabpot(place, "tools", "list", "--group", "famly");

  expect(family.stdout).toMatch(/^shell\tcontainer\tby input\t3630\tno: the policy denies it\tdeny$/m);
  expect(family.stdout).toMatch(/^send_file\thost\tlow\t120\tyes\tallow$/m);
  const reasons = jsonLines(quiet.stdout).map(({ reason }) => reason);
  expect(new Set(reasons)).toEqual(new Set(["the policy denies it"]));
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("Did you mean family?") as string });
});
