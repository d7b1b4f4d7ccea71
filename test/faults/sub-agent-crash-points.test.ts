import { expect, test, vi } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { groupOf, startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

/** What a turn and its sub-agent pass on their way, from the call to what is left. */
const points = [
  "before:record.agent-start",
  "before:turns.addStep#1",
  "after:turns.addStep#1",
  "before:turns.finish#1",
  "after:turns.finish#1",
  "before:record.agent-end",
  "before:subAgents.deliver",
  "after:subAgents.deliver",
  "before:subAgents.removed",
  "after:subAgents.removed",
];

const model: ModelScript = (request) => {
  const [, id = "nothing"] = /group-(\d+)/.exec(groupOf(request)) ?? [];
  const result = request.toolOutputs.at(-1);
  if (request.system.includes("You are a sub-agent of")) {
    if (result !== undefined) return { text: `the child of ${id} has it` };
    return { toolCalls: [{ name: "shell", input: { command: `mkdir -p out; echo ${id} >> out/runs` } }] };
  }
  return result === undefined
    ? { toolCalls: [{ name: "spawn_agent", input: { task: "do it" } }] }
    : { text: `so: ${result}` };
};

test("killed at each point of a sub-agent's life, the host goes on: one sub-agent, one answer, nothing left", async () => {
  const groups = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startModelHost(model, {
    groups: Object.fromEntries(groups.map(({ group }) => [group, {}])),
    config: { sessions: { maxHot: 2 } },
  });
  const { host } = running;
  await host.end("SIGTERM");
  const missed: string[] = [];
  const answers: string[] = [];

  for (const { at, group } of groups) {
    host.launch({ CRABPOT_CRASH_AT: at });
    await host.isReadyWithin(60_000);
    await host.say(group, "@crab do it").catch(() => undefined);
    await vi.waitUntil(() => !host.isRunning, { timeout: 30_000, interval: 5 }).catch(() => missed.push(at));
    await host.end("SIGKILL");
    await host.boot();
    const isAnswered = async () =>
      (await host.replies()).filter((reply) => reply.group === group && reply.text.startsWith("so: ")).length;
    await expect.poll(isAnswered, { timeout: 60_000, interval: 200 }).toBe(1);
    answers.push((await host.replies()).find((reply) => reply.group === group)?.text ?? "");
    await host.end("SIGTERM");
  }
  await host.boot();
  const agents = jsonLines((await host.cli("agents", "list", "--all", "--json")).stdout);
  const runs = await Promise.all(
    agents.map(({ group, id }) => host.readGroupFile(String(group), `agents/${String(id)}/runs`)),
  );

  expect(missed).toEqual([]);
  expect(agents.map(({ group, state }) => `${String(group)} ${String(state)}`).toSorted()).toEqual(
    groups.map(({ group }) => `${group} done`).toSorted(),
  );
  expect(answers.filter((text) => !/^so: agent-\d+ is done/.test(text))).toEqual([]);
  expect(runs.filter((run) => !/^\d+\n$/.test(run))).toEqual([]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
}, 600_000);
