import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { eventsOf } from "../support/host-records.ts";
import { startWithoutContainers } from "../support/model-host.ts";
import type { ModelServerRequest } from "../support/model-servers/model-server.ts";
import { keepRunning, restart } from "../support/restarts.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { editSettings } from "../../src/operations/settings/operations.ts";
import { listSubAgents } from "../../src/abilities/sub-agents/operations.ts";

const agents = { scout: { instructions: "You look things up." }, clerk: { tools: ["read_file"] } };
const family = { trigger: "always", agents: ["main", "scout"] };
const admins = { members: { default: "admin" } };

const hosts = shareModelHost({
  groups: {
    folders: family,
    named: family,
    losing: family,
    proposing: { ...family, agents: ["main", "scout", "clerk"], ...admins },
    stopping: { ...family, ...admins },
    killed: family,
  },
  config: { agents: { ...agents, clerk: { ...agents.clerk, permissions: [{ tool: "shell", action: "deny" }] } } },
  withoutContainers: ["named", "stopping", "killed"],
});
keepRunning(() => hosts.running);
beforeAll(() => Promise.all(["named", "stopping", "killed"].map((name) => makeFolder(hosts.running.host, name))));

/** Creates an agent's folder, as containers do. */
async function makeFolder({ home }: TestHost, group: string): Promise<void> {
  await mkdir(join(home, "groups", `${group}@scout`), { recursive: true, mode: 0o700 });
}

function nameOf({ system }: Pick<ModelServerRequest, "system">): string {
  return /You are (\w+),/.exec(system)?.[1] ?? "";
}

async function keysOf({ name, host }: TestGroup): Promise<string[]> {
  const sessions = await host.control.call(listSessions, {});
  return sessions
    .filter(({ group }) => group === name)
    .map(({ key }) => key)
    .toSorted();
}

test("agents of one group answer what is for them, each once, each in its own conversation and folder", async () => {
  const group = hosts.group("folders", (request) => {
    const name = nameOf(request);
    const results = request.messages.filter(({ role }) => role === "tool");
    if (request.lastText.includes("write it down") && results.length === 0)
      return { toolCalls: [{ name: "shell", input: { command: `echo by ${name} > mine; cat mine` } }] };
    return { text: `${name} after ${request.messages.filter(({ role }) => role === "user").length}` };
  });

  const plain = await group.ask("hello");
  const scouted = await group.ask("@scout hello");
  const both = await group.say("@crab and @scout, write it down");
  await expect
    .poll(async () => (await group.replies()).filter(({ inReplyTo }) => inReplyTo.includes(both.id)))
    .toHaveLength(2);
  const answered = (await group.replies()).find(({ text }) => text.startsWith("scout after 1"));
  const replied = await group.ask("and you?", { replyTo: String(answered?.seq) });

  expect(plain).toMatchObject({ text: "crab after 1", agent: "crab" });
  expect(scouted).toMatchObject({ text: "scout after 1", agent: "scout" });
  expect(replied).toMatchObject({ text: "scout after 3", agent: "scout" });
  const toBoth = (await group.replies()).filter(({ inReplyTo }) => inReplyTo.includes(both.id));
  expect(toBoth.map(({ text }) => text).toSorted()).toEqual(["crab after 2", "scout after 2"]);
  expect(await keysOf(group)).toEqual(["main:http:folders", "scout:http:folders"]);
  // What was for the first one is told to the other as what was said, not what it answered.
  const first = group.requests.find((request) => nameOf(request) === "scout");
  expect(first?.lastText).toContain("hello");
  expect(first?.lastText).not.toContain("crab after 1");
  expect(await readFile(join(group.host.home, "groups", "folders", "mine"), "utf8")).toBe("by crab\n");
  expect(await readFile(join(group.host.home, "groups", "folders@scout", "mine"), "utf8")).toBe("by scout\n");
});

test("a new name and a restart keep the conversations; commands are for all agents, or for the one that is named", async () => {
  const group = hosts.group("named", (request) => ({
    text: `${nameOf(request)} after ${request.messages.filter(({ role }) => role === "user").length}`,
  }));
  const { host } = group;
  await using stack = new AsyncDisposableStack();
  stack.defer(
    async () =>
      void (await host.control.call(editSettings, {
        edits: [{ path: ["agents", "scout", "name"], value: undefined }],
      })),
  );
  const asked = [await group.ask("one"), await group.ask("@scout one")];

  await host.cli("config", "set", "agents.scout.name", "Ranger");
  const unheard = await group.ask("@scout two");
  asked.push(unheard, await group.ask("@Ranger two"));
  await restart(group.host);
  asked.push(await group.ask("three"), await group.ask("@ranger three"));
  const status = await group.ask("/status");
  const renewed = await group.ask("@Ranger /new");
  const unknown = await group.ask("/new scout2");
  asked.push(await group.ask("four"), await group.ask("@Ranger four"));
  const all = await group.ask("/new");
  asked.push(await group.ask("five"), await group.ask("@Ranger five"));

  expect(asked.map(({ text }) => text)).toEqual([
    "crab after 1",
    "scout after 1",
    // Nobody is called so anymore: it is for the first agent. Their conversations begin as they did.
    "crab after 2",
    "scout after 2",
    "crab after 3",
    "scout after 3",
    "crab after 4",
    "Ranger after 1",
    "crab after 1",
    "Ranger after 1",
  ]);
  expect(status.text).toContain("crab: idle, 0 waiting.");
  expect(status.text).toContain("Ranger: idle, 0 waiting.");
  expect(renewed.text).toContain("A new conversation with Ranger has started");
  expect(unknown.text).toBe('There is no agent "scout2" here. There are crab, Ranger.');
  expect(all.text).toContain("A new conversation with crab, Ranger has started");
  expect(await keysOf(group)).toEqual(["main:http:named", "scout:http:named"]);
});

/** Edits the file of a stopped host. */
async function loseAgents({ name, host }: TestGroup): Promise<void> {
  const { groups } = parse(await readFile(join(host.home, "config.yaml"), "utf8")) as {
    groups: Record<string, { agents?: unknown }>;
  };
  delete groups[name]?.agents;
  await host.changeConfig({ groups });
}

test("an agent that its group loses at work ends its turn in its own folder; what waits for it is the first one's", async () => {
  const held = Promise.withResolvers<void>();
  const group = hosts.group("losing", async (request) => {
    const name = nameOf(request);
    const results = request.messages.filter(({ role }) => role === "tool");
    if (name === "scout" && results.length === 0) {
      await held.promise;
      return { toolCalls: [{ name: "shell", input: { command: "echo done > mine" } }] };
    }
    return { text: `by ${name}` };
  });
  const first = await group.say("@scout one");
  await expect.poll(() => group.requests.length).toBe(1);
  const second = await group.say("@scout two");
  await restart(group.host, { between: () => loseAgents(group) });
  const taken = await group.replyTo(second.id);
  held.resolve();
  const ended = await group.replyTo(first.id);

  expect([taken.text, ended.text]).toEqual(["by crab", "by scout"]);
  expect(await readFile(join(group.host.home, "groups", "losing@scout", "mine"), "utf8")).toBe("done\n");
  expect(
    (await group.replies())
      .map(({ inReplyTo }) => inReplyTo)
      .flat()
      .toSorted(),
  ).toEqual([first.id, second.id].toSorted());
});

test("each agent gets what people send, under its own rules, and proposes its own changes instructions", async () => {
  const content = "# Scout\nLook twice.";
  const group = hosts.group("proposing", (request) => {
    const results = request.messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    if (nameOf(request) === "clerk") return { text: request.tools.join(" ") };
    if (request.lastText.includes("propose"))
      return { toolCalls: [{ name: "propose_instructions", input: { content } }] };
    if (request.lastText.includes("look"))
      return { toolCalls: [{ name: "shell", input: { command: "cat inbox/*; echo changed > inbox/*" } }] };
    return { text: results.at(-1) ?? "" };
  });
  const attachments = [{ name: "note.txt", mimeType: "text/plain", data: Buffer.from("a note").toString("base64") }];

  const seen = await group.ask("@scout look", { attachments });
  const first = await group.ask("look");
  const clerk = await group.ask("@clerk what can you do?");
  await group.say("@scout propose");
  await expect
    .poll(async () => (await group.replies()).filter(({ text }) => text.includes("/approve")))
    .toHaveLength(1);
  const card = (await group.replies()).find(({ text }) => text.includes("/approve"));
  const [, code = ""] = /\/approve (\w+)/.exec(card?.text ?? "") ?? [];
  await group.ask(`/approve ${code}`);

  expect(seen.text).toContain("a note");
  expect(first.text).toContain("a note");
  expect(clerk.text).not.toContain("shell");
  expect(clerk.text).toContain("read_file");
  expect(card).toMatchObject({ agent: "scout" });
  await expect.poll(() => group.host.readGroupFile("proposing@scout", "AGENTS.md")).toBe(content);
  expect(await group.readFile("AGENTS.md")).not.toBe(content);
});

test("what one of several agents does is stopped alone, its sub-agents with it", async () => {
  const held = Promise.withResolvers<void>();
  const group = hosts.group("stopping", async (request) => {
    const { system, lastText, toolOutputs } = request;
    if (system.includes("You are a sub-agent of") || lastText.includes("take long")) await held.promise;
    const isAsked = nameOf(request) === "scout" && toolOutputs.length === 0;
    if (isAsked) return { toolCalls: [{ name: "spawn_agent", input: { task: "count", background: true } }] };
    return { text: `by ${nameOf(request)}` };
  });
  await group.ask("@scout begin");
  const slow = await group.say("@crab take long");
  await expect.poll(() => group.requests.length).toBe(4);

  const stopped = await group.ask("@scout /stop");
  held.resolve();
  const answered = await group.replyTo(slow.id);

  expect(stopped.text).toContain('Stopped by "Ann".');
  expect(answered.text).toBe("by crab");
  const sub = await group.host.control.call(listSubAgents, { group: "stopping", all: true });
  expect(sub).toMatchObject([{ task: "count", state: "cancelled" }]);
});

test("a message that two agents work on when the host is killed is answered by each of them, once", async () => {
  const held = Promise.withResolvers<void>();
  const group = hosts.group("killed", async (request) => {
    await held.promise;
    return { text: `by ${nameOf(request)}` };
  });
  const id = "told-to-both";
  await group.say("@crab @scout hello", { id });
  await expect.poll(() => group.requests.length).toBe(2);
  await restart(group.host);
  const again = await group.say("@crab @scout hello", { id });
  held.resolve();
  await expect.poll(async () => (await group.replies()).length).toBe(2);
  const status = await group.ask("/status");

  expect(again.body).toMatchObject({ duplicate: true });
  expect(status.text).toContain("idle, 0 waiting");
  const replies = (await group.replies()).filter(({ inReplyTo }) => inReplyTo.includes(id));
  expect(replies.map(({ text, agent }) => `${agent}: ${text}`).toSorted()).toEqual([
    "crab: by crab",
    "scout: by scout",
  ]);
});

test("each agent recalls what was said to it and what it answered, and nothing that was said to the other", async () => {
  await using running = await startWithoutContainers(
    (request) => ({ text: request.lastText.includes("called") ? `${nameOf(request)} has heard it` : "ok" }),
    {
      groups: { family },
      config: { agents, memory: { enabled: true, embeddings: "none", extract: { everyMessages: 0 } } },
    },
  );
  const { host, model } = running;
  await makeFolder(host, "family");
  const kept = async (...whose: string[]): Promise<string[]> => {
    const { stdout } = await host.cli("memory", "list", "--group", "family", ...whose, "--json");
    return jsonLines(stdout)
      .map(({ text }) => String(text))
      .toSorted();
  };

  await host.ask("family", "the dog is called Rex");
  await host.ask("family", "@scout the boat is called Wanda");
  await expect.poll(() => kept(), { interval: 500 }).toEqual(["crab has heard it", "the dog is called Rex"]);
  await expect
    .poll(() => kept("--agent", "scout"), { interval: 500 })
    .toEqual(["@scout the boat is called Wanda", "scout has heard it"]);
  await host.ask("family", "/new");
  await host.ask("family", "which names have the dog and the boat?");
  await host.ask("family", "@scout which names have the dog and the boat?");
  const listed = await host.ask("family", "@scout /memory");

  const asked = model.requests.filter(({ lastText }) => lastText.includes("which names"));
  const recalled = asked.map((request) => [nameOf(request), /<memories.*<\/memories>/s.exec(request.lastText)?.[0]]);
  expect(recalled).toEqual([
    ["crab", expect.stringContaining("Rex")],
    ["scout", expect.stringContaining("Wanda")],
  ]);
  expect(recalled[0]?.[1]).not.toContain("Wanda");
  expect(recalled[1]?.[1]).not.toContain("Rex");
  expect(listed.text).toBe("scout remembers no facts yet.");
  const events = await eventsOf(host, "memory.kept");
  expect(new Set(events.map(({ data }) => data["agent"]))).toEqual(new Set([undefined, "scout"]));
});
