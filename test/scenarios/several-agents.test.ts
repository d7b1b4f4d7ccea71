import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelServerRequest } from "../support/model-servers/model-server.ts";

const agents = { scout: { instructions: "You look things up." }, clerk: { tools: ["read_file"] } };
const family = { channel: "http", chat: "family", trigger: "always", agents: ["main", "scout"] };

function nameOf({ system }: Pick<ModelServerRequest, "system">): string {
  return /You are (\w+),/.exec(system)?.[1] ?? "";
}

async function keysOf(host: { cli(...args: string[]): Promise<{ stdout: string }> }): Promise<string[]> {
  const { stdout } = await host.cli("sessions", "list", "--json");
  return jsonLines(stdout)
    .map(({ key }) => String(key))
    .toSorted();
}

test("agents of one group answer what is for them, each once, each in its own conversation and folder", async () => {
  await using running = await startModelHost(
    (request) => {
      const name = nameOf(request);
      const results = request.messages.filter(({ role }) => role === "tool");
      if (request.lastText.includes("write it down") && results.length === 0)
        return { toolCalls: [{ name: "shell", input: { command: `echo by ${name} > mine; cat mine` } }] };
      return { text: `${name} after ${request.messages.filter(({ role }) => role === "user").length}` };
    },
    { groups: { family }, config: { agents } },
  );
  const { host, model } = running;

  const plain = await host.ask("family", "hello");
  const scouted = await host.ask("family", "@scout hello");
  const both = await host.say("family", "@crab and @scout, write it down");
  await expect
    .poll(async () => (await host.replies()).filter(({ inReplyTo }) => inReplyTo.includes(both.id)))
    .toHaveLength(2);
  const answered = (await host.replies()).find(({ text }) => text.startsWith("scout after 1"));
  const replied = await host.ask("family", "and you?", { replyTo: String(answered?.seq) });

  expect(plain).toMatchObject({ text: "crab after 1", agent: "crab" });
  expect(scouted).toMatchObject({ text: "scout after 1", agent: "scout" });
  expect(replied).toMatchObject({ text: "scout after 3", agent: "scout" });
  const toBoth = (await host.replies()).filter(({ inReplyTo }) => inReplyTo.includes(both.id));
  expect(toBoth.map(({ text }) => text).toSorted()).toEqual(["crab after 2", "scout after 2"]);
  expect(await keysOf(host)).toEqual(["main:http:family", "scout:http:family"]);
  // What was for the first one is told to the other as what was said, not what it answered.
  const first = model.requests.find((request) => nameOf(request) === "scout");
  expect(first?.lastText).toContain("hello");
  expect(first?.lastText).not.toContain("crab after 1");
  expect(await readFile(join(host.home, "groups", "family", "mine"), "utf8")).toBe("by crab\n");
  expect(await readFile(join(host.home, "groups", "family@scout", "mine"), "utf8")).toBe("by scout\n");
});

test("a new name and a restart keep the conversations; commands are for all agents, or for the one that is named", async () => {
  await using running = await startModelHost(
    (request) => ({
      text: `${nameOf(request)} after ${request.messages.filter(({ role }) => role === "user").length}`,
    }),
    { groups: { family }, config: { agents } },
  );
  const { host } = running;
  const asked = [await host.ask("family", "one"), await host.ask("family", "@scout one")];

  await host.cli("config", "set", "agents.scout.name", "Ranger");
  const unheard = await host.ask("family", "@scout two");
  asked.push(unheard, await host.ask("family", "@Ranger two"));
  await host.end("SIGKILL");
  await host.boot();
  asked.push(await host.ask("family", "three"), await host.ask("family", "@ranger three"));
  const status = await host.ask("family", "/status");
  const renewed = await host.ask("family", "@Ranger /new");
  const unknown = await host.ask("family", "/new scout2");
  asked.push(await host.ask("family", "four"), await host.ask("family", "@Ranger four"));
  const all = await host.ask("family", "/new");
  asked.push(await host.ask("family", "five"), await host.ask("family", "@Ranger five"));

  expect(asked.map(({ text }) => text)).toEqual([
    "crab after 1",
    "scout after 1",
    // Nobody is called so any more: it is for the first agent. Their conversations begin as they did.
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
  expect(renewed.text).toContain("A new conversation with Ranger has begun");
  expect(unknown.text).toBe('There is no agent "scout2" here. There are crab, Ranger.');
  expect(all.text).toContain("A new conversation with crab, Ranger has begun");
  expect(await keysOf(host)).toEqual(["main:http:family", "scout:http:family"]);
});

test("an agent that its group loses at work ends its turn in its own folder; what waits for it is the first one's", async () => {
  const held = Promise.withResolvers<void>();
  await using running = await startModelHost(
    async (request) => {
      const name = nameOf(request);
      const results = request.messages.filter(({ role }) => role === "tool");
      if (name === "scout" && results.length === 0) {
        await held.promise;
        return { toolCalls: [{ name: "shell", input: { command: "echo done > mine" } }] };
      }
      return { text: `by ${name}` };
    },
    { groups: { family }, config: { agents } },
  );
  const { host, model } = running;
  const first = await host.say("family", "@scout one");
  await expect.poll(() => model.requests.length).toBe(1);
  const second = await host.say("family", "@scout two");
  await host.end("SIGKILL");
  await host.changeConfig({ groups: { family: { channel: "http", chat: "family", trigger: "always" } } });
  await host.boot();
  const taken = await host.replyTo(second.id);
  held.resolve();
  const ended = await host.replyTo(first.id);

  expect([taken.text, ended.text]).toEqual(["by crab", "by scout"]);
  expect(await readFile(join(host.home, "groups", "family@scout", "mine"), "utf8")).toBe("done\n");
  expect(
    (await host.replies())
      .map(({ inReplyTo }) => inReplyTo)
      .flat()
      .toSorted(),
  ).toEqual([first.id, second.id].toSorted());
});

test("each agent gets what people send, under its own rules, and proposes changes of its own instructions", async () => {
  const content = "# Scout\nLook twice.";
  await using running = await startModelHost(
    (request) => {
      const results = request.messages.filter(({ role }) => role === "tool").map(({ text }) => text);
      if (nameOf(request) === "clerk") return { text: request.tools.join(" ") };
      if (request.lastText.includes("propose"))
        return { toolCalls: [{ name: "propose_instructions", input: { content } }] };
      if (request.lastText.includes("look"))
        return { toolCalls: [{ name: "shell", input: { command: "cat inbox/*; echo changed > inbox/*" } }] };
      return { text: results.at(-1) ?? "" };
    },
    {
      groups: { family: { ...family, agents: ["main", "scout", "clerk"], members: { default: "admin" } } },
      config: { agents: { ...agents, clerk: { permissions: [{ tool: "shell", action: "deny" }] } } },
    },
  );
  const { host } = running;
  const attachments = [{ name: "note.txt", mimeType: "text/plain", data: Buffer.from("a note").toString("base64") }];

  const seen = await host.ask("family", "@scout look", { attachments });
  const first = await host.ask("family", "look");
  const clerk = await host.ask("family", "@clerk what can you do?");
  await host.say("family", "@scout propose");
  await expect.poll(async () => (await host.replies()).filter(({ text }) => text.includes("/approve"))).toHaveLength(1);
  const card = (await host.replies()).find(({ text }) => text.includes("/approve"));
  const [, code = ""] = /\/approve (\w+)/.exec(card?.text ?? "") ?? [];
  await host.ask("family", `/approve ${code}`);

  expect(seen.text).toContain("a note");
  expect(first.text).toContain("a note");
  expect(clerk.text).not.toContain("shell");
  expect(clerk.text).toContain("read_file");
  expect(card).toMatchObject({ agent: "scout" });
  await expect.poll(() => host.readGroupFile("family@scout", "AGENTS.md")).toBe(content);
  expect(await host.readGroupFile("family", "AGENTS.md")).not.toBe(content);
});

test("what one of several agents does is stopped alone, its sub-agents with it", async () => {
  const held = Promise.withResolvers<void>();
  await using running = await startModelHost(
    async (request) => {
      const { system, lastText, toolOutputs } = request;
      if (system.includes("You are a sub-agent of") || lastText.includes("take long")) await held.promise;
      const isAsked = nameOf(request) === "scout" && toolOutputs.length === 0;
      if (isAsked) return { toolCalls: [{ name: "spawn_agent", input: { task: "count", background: true } }] };
      return { text: `by ${nameOf(request)}` };
    },
    { groups: { family: { ...family, members: { default: "admin" } } }, config: { agents } },
  );
  const { host, model } = running;
  await host.ask("family", "@scout begin");
  const slow = await host.say("family", "@crab take long");
  await expect.poll(() => model.requests.length, { timeout: 60_000 }).toBe(4);

  const stopped = await host.ask("family", "@scout /stop");
  held.resolve();
  const answered = await host.replyTo(slow.id);

  expect(stopped.text).toContain('Stopped by "Ann".');
  expect(answered.text).toBe("by crab");
  const sub = jsonLines((await host.cli("agents", "list", "--all", "--json")).stdout);
  expect(sub).toMatchObject([{ task: "count", state: "cancelled" }]);
});

test("a message that two agents work on when the host is killed is answered by each of them, once", async () => {
  const held = Promise.withResolvers<void>();
  await using running = await startModelHost(
    async (request) => {
      await held.promise;
      return { text: `by ${nameOf(request)}` };
    },
    { groups: { family }, config: { agents } },
  );
  const { host, model } = running;
  const id = "told-to-both";
  await host.say("family", "@crab @scout hello", { id });
  await expect.poll(() => model.requests.length).toBe(2);
  await host.end("SIGKILL");
  await host.boot();
  const again = await host.say("family", "@crab @scout hello", { id });
  held.resolve();
  await expect.poll(async () => (await host.replies()).length).toBe(2);
  const status = await host.ask("family", "/status");

  expect(again.body).toMatchObject({ duplicate: true });
  expect(status.text).toContain("idle, 0 waiting");
  const replies = (await host.replies()).filter(({ inReplyTo }) => inReplyTo.includes(id));
  expect(replies.map(({ text, agent }) => `${agent}: ${text}`).toSorted()).toEqual([
    "crab: by crab",
    "scout: by scout",
  ]);
});

test("each agent recalls what was said to it and what it answered, and nothing that was said to the other", async () => {
  await using running = await startModelHost(
    (request) => ({ text: request.lastText.includes("called") ? `${nameOf(request)} has heard it` : "ok" }),
    {
      groups: { family },
      config: { agents, memory: { enabled: true, embeddings: "none", extract: { everyMessages: 0 } } },
    },
  );
  const { host, model } = running;
  const kept = async (...whose: string[]): Promise<string[]> => {
    const { stdout } = await host.cli("memory", "list", "--group", "family", ...whose, "--json");
    return jsonLines(stdout)
      .map(({ text }) => String(text))
      .toSorted();
  };

  await host.ask("family", "the dog is called Rex");
  await host.ask("family", "@scout the boat is called Wanda");
  await expect.poll(() => kept(), { timeout: 20_000 }).toEqual(["crab has heard it", "the dog is called Rex"]);
  await expect
    .poll(() => kept("--agent", "scout"), { timeout: 20_000 })
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
  const events = jsonLines(
    (await host.cli("events", "tail", "--after", "0", "--type", "memory.kept", "--json")).stdout,
  );
  expect(new Set(events.map(({ data }) => (data as { agent?: string }).agent))).toEqual(new Set([undefined, "scout"]));
});
