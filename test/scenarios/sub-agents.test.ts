import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest, ScriptedReply } from "../support/model-servers/model-server.ts";

function isSubAgent({ system }: ModelServerRequest): boolean {
  return system.includes("You are a sub-agent of");
}

/** A model that is asked by two kinds of agents. */
function family(parent: ModelScript, child: ModelScript): ModelScript {
  return (request) => (isSubAgent(request) ? child(request) : parent(request));
}

function spawns(...inputs: readonly object[]): ScriptedReply {
  return { toolCalls: inputs.map((input) => ({ name: "spawn_agent", input })) };
}

/** Runs this once, then says what came of it. */
function running(command: string): ModelScript {
  return ({ toolOutputs }) => {
    const result = toolOutputs.at(-1);
    return result === undefined ? { toolCalls: [{ name: "shell", input: { command } }] } : { text: `child: ${result}` };
  };
}

async function agents(host: TestHost): Promise<Record<string, unknown>[]> {
  return jsonLines((await host.cli("agents", "list", "--all", "--json")).stdout);
}

/** Folders of sessions that hold anything but logs, and containers that say that they are a sub-agent's. */
async function remains(host: TestHost): Promise<string[]> {
  const sessions = join(host.home, "sessions");
  const found = await readdir(sessions, { recursive: true });
  return found.filter((name) => /\/scratch$/.test(name));
}

test("a turn waits for its sub-agent and goes on with its answer and files; nothing is left of it", async () => {
  const work = "cat /workspace/group/notes; mkdir out; echo result > out/answer.txt; touch /workspace/group/no 2>&1";
  await using home = await startModelHost(
    family(({ toolOutputs }) => {
      const result = toolOutputs.at(-1);
      return result === undefined ? spawns({ task: "find it out" }) : { text: `so: ${result}` };
    }, running(work)),
    { config: { sessions: { maxHot: 1 } } },
  );
  const { host } = home;
  await mkdir(join(host.home, "groups/family"), { recursive: true });
  await writeFile(join(host.home, "groups/family/notes"), "of the group\n", { mode: 0o644 });

  const reply = await host.ask("family", "@crab do it");

  expect(reply.text).toContain("so: agent-1 is done.");
  expect(reply.text).toContain("of the group");
  expect(reply.text).toContain("Read-only file system");
  expect(reply.text).toContain("/workspace/group/agents/agent-1/answer.txt");
  expect(await host.readGroupFile("family", "agents/agent-1/answer.txt")).toBe("result\n");
  await expect.poll(() => remains(host), { timeout: 30_000 }).toEqual([]);
  expect(await agents(host)).toMatchObject([{ id: "agent-1", group: "family", state: "done", task: "find it out" }]);
});
