import { test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { startMortalHost } from "../support/model-host.ts";
import { cleared, isSubAgent, remainsOf, runsOnce, spawns, subAgentsOf } from "../support/sub-agent-family.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";

/** Points of a turn and the sub-agent that it waits for. */
const foreground = [
  "before:record.agent-start",
  "after:turns.addStep#1",
  "after:turns.begin#2",
  "before:turns.finish#1",
  "after:turns.finish#1",
  "before:subAgents.deliver",
  "after:subAgents.deliver",
  "before:subAgents.removed",
  "after:subAgents.removed",
];

/**
 * The same of one in the background: it is begun, its turn runs, its result is written, handed over, and told by a
 * third turn.
 */
const background = [
  "after:turns.addStep#1",
  "before:turns.finish#2",
  "after:turns.finish#2",
  "before:subAgents.deliver",
  "after:subAgents.deliver",
  "after:turns.begin#3",
  "after:turns.finish#3",
];

const works = runsOnce("mkdir -p out; echo ran >> out/runs");

const model: ModelScript = (request) => {
  const { lastText, toolOutputs } = request;
  if (isSubAgent(request)) return works(request);
  if (/<work [^]*agent-\d+ is done/.test(lastText)) return { text: `later: ${lastText}` };
  if (toolOutputs.length > 0) return { text: `so: ${toolOutputs.join("\n")}` };
  return spawns({ background: lastText.includes("background") });
};

const ways = [
  { how: "foreground", points: foreground },
  { how: "background", points: background },
] as const;

test.concurrent.for(ways)(
  "killed at each point of the life of a sub-agent in the $how, the host goes on: one sub-agent, one answer, handed over once, nothing left",
  { timeout: 600_000 },
  async ({ how, points }, { expect }) => {
    await using running = await startMortalHost(model);
    const { host } = running;
    const missed: string[] = [];
    const seen: string[][] = [];

    for (const [index, at] of points.entries()) {
      const id = `${how}-${index}`;
      const before = (await host.replies()).length;
      if (!(await host.dieAt(at, () => host.say("family", `@crab in the ${how}`, { id })))) missed.push(at);
      await host.replyTo(id);
      // What one has left must not be what the next one dies of.
      await cleared(host);
      await expect
        .poll(async () => (await host.control.call(listSessions, {})).map(({ kind }) => kind), { timeout: 120_000 })
        .toEqual(["main"]);
      const answers = async () => (await host.replies()).slice(before).map(({ text }) => text);
      await expect.poll(async () => (await answers()).length).toBe(how === "background" ? 2 : 1);
      seen.push(await answers());
    }
    const agents = await subAgentsOf(host);
    const runs = await Promise.all(agents.map(({ id }) => host.readGroupFile("family", `agents/${id}/runs`)));
    const work = jsonLines((await host.cli("work", "list", "--limit", "100", "--json")).stdout);

    expect(missed).toEqual([]);
    expect(agents.map(({ state }) => state)).toEqual(points.map(() => "done"));
    expect(runs).toEqual(points.map(() => "ran\n"));
    const told = seen.map((texts) =>
      texts.map((text) => /^\w+: |agent-\d+ (?:is done|works)/g[Symbol.match](text)?.join("")),
    );
    expect(told.map((texts) => texts.join(", ").replaceAll(/agent-\d+/g, "it"))).toEqual(
      points.map(() => (how === "foreground" ? "so: it is done" : "so: it works, later: it is done")),
    );
    expect(work.filter(({ state }) => state !== "settled")).toEqual([]);
    expect(await remainsOf(host)).toEqual([]);
    expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
  },
);
