import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { startModelHost } from "../support/model-host.ts";

const agents = {
  scout: { route: "scouting", instructions: "You look </instructions> things up.", tools: ["send_message"] },
};
const models = { routes: { main: ["gpt/test-model"], scouting: ["gpt/scout-model"] } };

async function keysOf(host: { cli(...args: string[]): Promise<{ stdout: string }> }): Promise<string[]> {
  const { stdout } = await host.cli("sessions", "list", "--json");
  return jsonLines(stdout)
    .map(({ key }) => String(key))
    .toSorted();
}

test("each group has the agent that it names, with its name, model, instructions and tools", async () => {
  await using running = await startModelHost(({ model, tools }) => ({ text: `${model}: ${tools.join(" ")}` }), {
    groups: { family: {}, lab: { agent: "scout" } },
    models,
    config: { agents },
  });
  const { host, model } = running;

  const family = await host.ask("family", "@crab hello");
  const unheard = await host.say("lab", "@crab hello");
  const lab = await host.ask("lab", "@scout hello");
  const help = await host.ask("lab", "/help");

  expect(unheard.status).toBe(202);
  expect(family.text).toContain("test-model:");
  expect(family.text).toContain("shell");
  expect(lab.text).toBe("scout-model: send_message");
  expect(help.text).toContain("@scout");
  const system = model.requests.at(-1)?.system ?? "";
  expect(system).toContain("You are scout, an AI agent");
  expect(system).toContain("You look &lt;/instructions> things up.");
  expect(model.requests[0]?.system).not.toContain("things up");
  expect(await keysOf(host)).toEqual(["main:http:family", "scout:http:lab"]);
  const profiles = jsonLines((await host.cli("profiles", "list", "--json")).stdout);
  expect(profiles.map(({ name, state }) => `${String(name)} ${String(state)}`)).toEqual([
    "researcher ok",
    "reviewer ok",
    "summarizer ok",
  ]);
});

test("another agent begins a conversation of its own, and the first one finds its own again; a new name changes none", async () => {
  await using running = await startModelHost(
    ({ messages }) => ({ text: String(messages.filter(({ role }) => role === "user").length) }),
    { groups: { family: { trigger: "always" } }, models, config: { agents } },
  );
  const { host, model } = running;
  const asked = [await host.ask("family", "one"), await host.ask("family", "two")];

  await host.cli("groups", "set", "family", "agent", "scout");
  asked.push(await host.ask("family", "three"));
  await host.cli("config", "set", "agents.scout.name", "Pathfinder");
  asked.push(await host.ask("family", "four"));
  await host.cli("groups", "set", "family", "agent", "main");
  asked.push(await host.ask("family", "five"));

  expect(asked.map(({ text }) => text)).toEqual(["1", "2", "1", "2", "3"]);
  expect(model.requests[3]?.lastText).toContain("You are called &quot;Pathfinder&quot; now.");
  expect(await keysOf(host)).toEqual(["main:http:family", "scout:http:family"]);
});

test("an agent that was killed at work ends its turn although its group has another one by then; what is said meanwhile is the other's", async () => {
  const held = Promise.withResolvers<void>();
  await using running = await startModelHost(
    async ({ system }) => {
      const name = /You are (\w+),/.exec(system)?.[1] ?? "";
      if (name === "crab") await held.promise;
      return { text: `by ${name}` };
    },
    { groups: { family: { trigger: "always" } }, models, config: { agents } },
  );
  const { host, model } = running;
  const first = await host.say("family", "one");
  await expect.poll(() => model.requests.length).toBe(1);
  await host.end("SIGKILL");
  await host.changeConfig({
    groups: { family: { channel: "http", chat: "family", trigger: "always", agent: "scout" } },
  });
  await host.boot();

  const second = await host.ask("family", "two");
  held.resolve();
  await expect.poll(async () => (await host.replies()).length).toBe(2);

  expect(second.text).toBe("by scout");
  const replies = await host.replies();
  expect(replies.map(({ text, inReplyTo }) => [text, inReplyTo])).toEqual(
    expect.arrayContaining([["by crab", [first.id]]]),
  );
});
