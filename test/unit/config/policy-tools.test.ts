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
    "groups.main.policy.tools.dance: unknown tool dance; there are: agent_cancel, agent_message, agent_status, cancel_task, edit_file, get_available_agents, get_available_skills, get_skill_content, get_skills_for_task, jobs, list_files, list_tasks, memory_forget, memory_search, memory_store, propose_instructions, propose_skill, react, read_file, run_task, schedule_task, search_files, send_file, send_message, sessions_history, sessions_list, sessions_send, sessions_spawn, shell, spawn_agent, update_task, view_image, write_file",
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
