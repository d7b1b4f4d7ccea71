import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { containerTroubles } from "../support/container-troubles.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { groupOf, startModelHost } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest, ScriptedReply } from "../support/model-servers/model-server.ts";

function isSubAgent({ system }: ModelServerRequest): boolean {
  return system.includes("You are a sub-agent of");
}

/** A parent that makes one sub-agent with this input and says what came of it, and the sub-agent. */
function family(input: object, child: ModelScript): ModelScript {
  return (request): ScriptedReply | Promise<ScriptedReply> => {
    if (isSubAgent(request)) return child(request);
    const result = request.toolOutputs.at(-1);
    if (result !== undefined) return { text: `so: ${result}` };
    return { toolCalls: [{ name: "spawn_agent", input: { task: "do it", ...input } }] };
  };
}

/** Says that it is at work, then goes on for as long as it is let. */
const works: ModelScript = ({ toolOutputs }) =>
  toolOutputs.length > 0
    ? { text: `child: ${toolOutputs.join(" ")}` }
    : { toolCalls: [{ name: "shell", input: { command: "echo begun > /workspace/scratch/begun; sleep 600" } }] };

/** Containers that say that they are a sub-agent's. */
async function childContainers(host: TestHost): Promise<{ id: string; socketPath: string }[]> {
  await using engine = await host.openEngine();
  const found = await engine.list({ "crabpot.instance": await host.instance(), "crabpot.kind": "agent" });
  const socketPath = (await engine.facts()).address.replace("unix://", "");
  return found.filter(({ running }) => running).map(({ id }) => ({ id, socketPath }));
}

/** Scratch folders, mailboxes and containers of sub-agents. */
async function remains(host: TestHost): Promise<string[]> {
  const found = await readdir(join(host.home, "sessions"), { recursive: true });
  const scratch = found.filter((name) => name.endsWith("/scratch"));
  return [...scratch, ...(await childContainers(host)).map(({ id }) => id)];
}

/** Resolves when the sub-agent's command runs. */
async function begun(host: TestHost): Promise<void> {
  const isBegun = async () =>
    (await readdir(join(host.home, "sessions"), { recursive: true })).some((name) => name.endsWith("/scratch/begun"));
  await expect.poll(isBegun, { timeout: 60_000 }).toBe(true);
}

async function states(host: TestHost): Promise<unknown[]> {
  return jsonLines((await host.cli("agents", "list", "--all", "--json")).stdout).map(({ state }) => state);
}

test("one whose time is over is ended with all that it runs, and its parent is told", async () => {
  await using running = await startModelHost(family({ timeoutMinutes: 0.1 }, works));
  const { host } = running;

  const { text } = await host.ask("family", "@crab do it");

  expect(text).toContain("agent-1 was ended:");
  expect(text).toContain("its time was over (less than a minute)");
  await expect.poll(() => remains(host), { timeout: 30_000 }).toEqual([]);
  expect(await states(host)).toEqual(["expired"]);
});

test("one whose agent hangs goes on in another container, and its parent gets its answer", async () => {
  await using running = await startModelHost(family({}, works), {
    config: { limits: { turnsPerHour: 0, loopTurns: 0 }, sessions: { silenceTimeoutSeconds: 5 } },
  });
  const { host } = running;
  const said = await host.say("family", "@crab do it");
  await begun(host);
  const [first] = await childContainers(host);
  if (!first) throw new Error("the sub-agent has no container");
  await containerTroubles.hung(first);

  const reply = await host.replyTo(said.id);

  expect(reply.text).toContain("child: ");
  expect(reply.text).toMatch(/agent-1 is done/);
  await expect.poll(() => remains(host), { timeout: 30_000 }).toEqual([]);
});

test.for(["/stop", "/new"])(
  "with %s in the chat a sub-agent ends, with container, scratch folder and mailbox",
  async (command) => {
    await using running = await startModelHost(family({}, works));
    const { host } = running;
    await host.say("family", "@crab do it");
    await begun(host);

    await host.say("family", command);

    await expect.poll(() => states(host), { timeout: 60_000 }).toEqual(["cancelled"]);
    await expect.poll(() => remains(host), { timeout: 30_000 }).toEqual([]);
  },
);

test("a sub-agent of a guest may do no more than the guest, and what it has read counts for its parent", async () => {
  const rules = [
    { tool: "shell", role: "guest", action: "deny" },
    { tool: "write_file", origin: "agent", action: "deny" },
  ];
  await using running = await startModelHost(
    (request) => {
      const results = request.messages.filter(({ role }) => role === "tool").map(({ text }) => text);
      if (isSubAgent(request)) {
        if (results.length > 0) return { text: `child: ${results.join(" ")}` };
        return { toolCalls: [{ name: "shell", input: { command: "echo ran" } }] };
      }
      if (results.length === 0) return { toolCalls: [{ name: "spawn_agent", input: { task: "run it" } }] };
      if (results.length === 1) return { toolCalls: [{ name: "write_file", input: { path: "washed", content: "x" } }] };
      return { text: `so: ${results.join(" ")}` };
    },
    {
      groups: {
        family: {
          members: { default: "member", "http:gus": "guest" },
          policy: { rules },
        },
      },
    },
  );
  const { host } = running;

  const ofGuest = await host.ask("family", "@crab do it", { sender: { id: "gus", name: "Gus" } });

  expect(ofGuest.text).toMatch(/child: Error: .*does not allow .*shell/);
  expect(ofGuest.text).toMatch(/does not allow .*write_file/);
  expect(await host.readGroupFile("family", "washed")).toBe("");
  const agents = jsonLines((await host.cli("agents", "list", "--all", "--json")).stdout);
  expect(agents).toMatchObject([{ role: "guest" }]);
});

test("a call of a sub-agent that needs an approval is asked in the chat for that sub-agent, and runs when it is allowed", async () => {
  await using running = await startModelHost(
    family({}, ({ toolOutputs }) =>
      toolOutputs.length > 0
        ? { text: `child: ${toolOutputs.join(" ")}` }
        : { toolCalls: [{ name: "shell", input: { command: "echo ran" } }] },
    ),
    { config: { limits: { turnsPerHour: 0, loopTurns: 0 }, policy: { tools: { shell: "ask" } } } },
  );
  const { host } = running;
  const said = await host.say("family", "@crab do it");
  const cards = async () => (await host.replies()).filter(({ text }) => /Code [0-9A-Z]{6}/.test(text));
  await expect.poll(async () => (await cards()).length, { timeout: 60_000 }).toBe(1);
  const [card] = await cards();
  const [, code = ""] = /Code ([0-9A-Z]{6})/.exec(card?.text ?? "") ?? [];

  await host.cli("approvals", "allow", code);
  const reply = await host.replyTo(said.id);

  expect(card?.text).toContain('"agent-1 a sub-agent" (http:ann)');
  expect(reply.text).toContain("child: ran");
});

test("a group with 20 sub-agents gets no more than its share while another one waits", async () => {
  const order: string[] = [];
  await using running = await startModelHost(
    (request) => {
      if (isSubAgent(request)) {
        order.push(groupOf(request));
        return { text: "done" };
      }
      const results = request.messages.filter(({ role }) => role === "tool");
      if (results.length > 0) return { text: `so: ${results.filter(({ text }) => text.includes("is done")).length}` };
      const count = groupOf(request) === "many" ? 20 : 1;
      return {
        toolCalls: Array.from({ length: count }, (_, index) => ({
          name: "spawn_agent",
          input: { task: `do ${index}` },
        })),
      };
    },
    {
      groups: { many: {}, one: {} },
      config: { limits: { turnsPerHour: 0, loopTurns: 0, subAgents: { atOnce: 20 } }, sessions: { maxHot: 1 } },
    },
  );
  const { host } = running;
  const many = await host.say("many", "@crab do it");
  await expect.poll(() => order.length, { timeout: 60_000 }).toBeGreaterThan(0);

  const one = await host.ask("one", "@crab do it");
  const before = order.indexOf("one");
  const all = await host.replyTo(many.id, 240);

  expect(one.text).toBe("so: 1");
  expect(before).toBeLessThan(5);
  expect(all.text).toBe("so: 20");
}, 400_000);
