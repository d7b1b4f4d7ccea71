import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { eventsOf } from "../support/host-records.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelServerRequest } from "../support/model-servers/model-server.ts";
import { keepRunning, restart } from "../support/restarts.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { listSubAgents } from "../../src/abilities/sub-agents/operations.ts";

const models = { routes: { main: ["gpt/test-model"], cheap: ["gpt/cheap-model"] } };

const scout = `---
description: Looks things up.
route: cheap
tools: [shell, spawn_agent]
permissions:
  - { tool: shell, match: "touch *", action: deny }
---
You look </instructions> up what nobody knows.
`;

async function writeProfile(host: TestHost, name: string, text: string): Promise<void> {
  await mkdir(join(host.home, "agents"), { recursive: true, mode: 0o700 });
  await writeFile(join(host.home, "agents", `${name}.md`), text, { mode: 0o600 });
}

function isSubAgent({ system }: ModelServerRequest): boolean {
  return system.includes("You are a sub-agent of");
}

function priced(usd: number): object {
  return { inputUsd: usd, outputUsd: usd };
}

const hosts = shareModelHost({
  groups: { refused: {}, gone: {}, routed: {} },
  models: {
    routes: { ...models.routes, far: ["gpt/dear-model"] },
    capabilities: { "gpt/test-model": priced(2), "gpt/cheap-model": priced(1), "gpt/dear-model": priced(3) },
  },
  withoutContainers: "all",
});
keepRunning(() => hosts.running);

const touches = { toolCalls: [{ name: "shell", input: { command: "touch out" } }] };

test("a profile gives a sub-agent its words and models, and takes tools and calls away from it and from those below it, also after a kill", async () => {
  const held = Promise.withResolvers<void>();
  const seen: { of: string; model: string; tools: readonly string[]; system: string }[] = [];
  await using running = await startModelHost(
    async (request) => {
      const { model, tools, system, toolOutputs, messages } = request;
      const result = toolOutputs.at(-1);
      if (!isSubAgent(request)) {
        if (result !== undefined) return { text: `so: ${result}` };
        return { toolCalls: [{ name: "spawn_agent", input: { task: "task of the child", agent: "scout" } }] };
      }
      const of = messages.some(({ text }) => text.includes("task of the grandchild")) ? "grandchild" : "child";
      seen.push({ of, model, tools, system });
      if (of === "grandchild") return result === undefined ? touches : { text: `grandchild: ${result}` };
      if (result === undefined) {
        await held.promise;
        return touches;
      }
      if (result.includes("grandchild")) return { text: `child: ${result}` };
      return { toolCalls: [{ name: "spawn_agent", input: { task: `task of the grandchild; before: ${result}` } }] };
    },
    {
      withoutContainers: "all",
      shellHere: true,
      models,
      config: { limits: { turnsPerHour: 0, loopTurns: 0, subAgents: { depth: 2 } } },
    },
  );
  const { host } = running;
  await writeProfile(host, "scout", scout);
  const said = await host.say("family", "@crab do it");
  await expect.poll(() => seen.length).toBe(1);
  await host.end("SIGKILL");
  held.resolve();
  await host.boot();

  const reply = await host.replyTo(said.id);

  const [child] = seen;
  expect(child).toMatchObject({ of: "child", model: "cheap-model" });
  expect(child?.tools.toSorted()).toEqual(["shell", "spawn_agent"]);
  expect(child?.system).toContain("You look &lt;/instructions> up what nobody knows.");
  const grandchild = seen.find(({ of }) => of === "grandchild");
  expect(grandchild?.tools).toEqual(["shell"]);
  expect(grandchild?.model).toBe("cheap-model");
  expect(grandchild?.system).not.toContain("what nobody knows");
  expect(reply.text).toMatch(
    /^so: agent-1 is done[^]*child: agent-2 is done[^]*grandchild: Error: .* does not allow .*shell/,
  );
  const denied = await eventsOf(host, "tool.denied");
  expect(denied.map(({ data }) => data["rule"])).toEqual(denied.map(() => "permissions[0] of profile scout"));
  expect(denied.length).toBeGreaterThanOrEqual(2);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

test("a profile that is unknown or has a mistake is refused with what there is, and nothing begins; the host's folders are not named", async () => {
  const group = hosts.group("refused", ({ toolOutputs }) =>
    toolOutputs.length > 0
      ? { text: toolOutputs.join("\n") }
      : {
          toolCalls: ["nobody", "broken", "../../config"].map((agent) => ({
            name: "spawn_agent",
            input: { task: "do it", agent },
          })),
        },
  );
  const { host } = group;
  await writeProfile(
    host,
    "broken",
    "---\ndescription: x\npermissions: [{ tool: shell, action: allow }]\n---\nText.\n",
  );

  const { text } = await group.ask("@crab do it");

  expect(text).toContain('There is no profile "nobody". Profiles: broken, researcher, reviewer, summarizer.');
  expect(text).toContain('The profile "broken" is not usable');
  expect(text).toContain('There is no profile "../../config".');
  expect(text).not.toContain(host.home);
  expect(await host.control.call(listSubAgents, { group: "refused", all: true })).toEqual([]);
});

test("a sub-agent whose profile is gone by the time that it goes on does nothing more, and its parent is told why", async () => {
  const asked: ModelServerRequest[] = [];
  const group = hosts.group("gone", (request) => {
    const result = request.toolOutputs.at(-1);
    if (isSubAgent(request)) {
      asked.push(request);
      return { fault: "silence" };
    }
    if (result !== undefined) return { text: `so: ${result}` };
    return { toolCalls: [{ name: "spawn_agent", input: { task: "do it", agent: "scout" } }] };
  });
  const { host } = group;
  await writeProfile(host, "scout", scout);
  const said = await group.say("@crab do it");
  await expect.poll(() => asked.length).toBe(1);
  await restart(host, { between: () => rm(join(host.home, "agents/scout.md")) });

  const reply = await group.replyTo(said.id);

  expect(reply.text).toContain("agent-1 could not do it:");
  expect(reply.text).toContain('There is no profile "scout".');
  expect(asked).toHaveLength(1);
});

test("a sub-agent has the route that is asked for if it is a narrower one", async () => {
  const wanted = [
    { task: "one", route: "cheap" },
    { task: "two", route: "far" },
    { task: "three", route: "nowhere" },
  ];
  const asked: string[] = [];
  const group = hosts.group("routed", (request) => {
    const { model, toolOutputs } = request;
    if (isSubAgent(request)) {
      asked.push(model);
      return { text: `by ${model}` };
    }
    if (toolOutputs.length > 0) return { text: toolOutputs.join("\n") };
    return { toolCalls: wanted.map((input) => ({ name: "spawn_agent", input })) };
  });
  const { host } = group;

  const { text } = await group.ask("@crab do it");

  expect(text).toContain("by cheap-model");
  expect(text).toContain('The route "far" may cost more than yours.');
  expect(text).toContain('There is no route "nowhere". You may name: main, cheap.');
  expect(asked).toEqual(["cheap-model"]);
  const listed = jsonLines((await host.cli("agents", "list", "--group", "routed", "--all", "--json")).stdout);
  expect(listed).toMatchObject([{ task: "one", route: "cheap" }]);
});
