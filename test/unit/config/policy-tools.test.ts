import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { stringify } from "yaml";

import { checkConfig, describeFault } from "../../../src/config/loading/load.ts";
import { withBuiltInAdapters } from "../../../src/config/adapters.ts";
import type { HostTool } from "../../../src/tools/define-tool.ts";
import { rollDice } from "../../fixtures/guides/roll-dice.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function faultsOf(config: object, tools: readonly HostTool[] = []): Promise<string[]> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, stringify(config), { mode: 0o600 });
  const check = await checkConfig(file, {}, withBuiltInAdapters({ tools }));
  return check.ok ? [] : check.faults.map(describeFault);
}

test("a policy that names a tool which does not exist is refused, with the one that was probably meant", async () => {
  const group = { channel: "terminal", chat: "main", policy: { tools: { wrte_file: "deny", dance: "allow" } } };

  const faults = await faultsOf({ policy: { tools: { Shell: "deny", react: "deny" } }, groups: { main: group } });

  expect(faults).toEqual([
    "policy.tools.Shell: unknown tool Shell; did you mean shell?",
    "groups.main.policy.tools.wrte_file: unknown tool wrte_file; did you mean write_file?",
    "groups.main.policy.tools.dance: unknown tool dance; there are: agent_cancel, agent_message, agent_status, browser, call_tool, cancel_task, edit_file, find_tools, get_available_agents, get_available_skills, get_skill_content, get_skills_for_task, jobs, list_files, list_tasks, mcp_prompt, mcp_read, memory_forget, memory_search, memory_store, propose_instructions, propose_skill, react, read_file, read_result, request_packages, run_task, schedule_task, search_files, send_file, send_message, send_voice, sessions_history, sessions_list, sessions_send, sessions_spawn, shell, spawn_agent, update_task, view_image, web_fetch, web_search, write_file",
  ]);
});

test("a tool is found by what other programs call it", async () => {
  expect(await faultsOf({ policy: { tools: { bash: "deny", Read: "deny" } } })).toEqual([
    "policy.tools.bash: unknown tool bash; did you mean shell?",
    "policy.tools.Read: unknown tool Read; did you mean read_file?",
  ]);
});

test("a program that embeds the host can name its own tools", async () => {
  expect(await faultsOf({ policy: { tools: { roll_dice: "deny" } } }, [rollDice])).toEqual([]);
});

test("a rule may name tools of a server that is configured, or all of them, and of no other server", async () => {
  const mcp = { servers: { files: { command: "npx" } } };
  const rules = ["files__read", "files__*", "fils__read", "files__", "files__a*"].map((tool) => ({
    tool,
    action: "deny",
  }));

  const faults = await faultsOf({ mcp, policy: { rules } });

  expect(faults).toEqual([
    "policy.rules[2].tool: unknown tool fils__read: no MCP server is called fils; did you mean files__read?",
    "policy.rules[3].tool: files__ names no tool of the server files; all are files__*",
    "policy.rules[4].tool: files__a* names no tool of the server files; all are files__*",
  ]);
});

test("what is wrong inside a server is said with its key, by what such a server may have", async () => {
  const servers = {
    a: { command: "npx", argz: [] },
    b: { url: "http://wiki.example/mcp", heders: {} },
    c: { command: "npx", risk: "hig" },
  };

  const faults = await faultsOf({ mcp: { servers } });

  expect(faults).toEqual([
    "mcp.servers.a.argz: unknown key; did you mean args?",
    "mcp.servers.b.heders: unknown key; did you mean headers?",
    'mcp.servers.c.risk: must be low or medium or high or a list of keys and values, not "hig"; did you mean high?',
  ]);
});
