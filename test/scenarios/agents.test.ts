import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { editGroupSettings, editSettings } from "../../src/operations/settings/operations.ts";

const hosts = shareModelHost({
  groups: {
    family: {},
    lab: { agent: "scout" },
    changing: { trigger: "always" },
    killed: { trigger: "always" },
  },
  models: { routes: { main: ["gpt/test-model"], scouting: ["gpt/scout-model"] } },
  config: {
    agents: {
      scout: { route: "scouting", instructions: "You look </instructions> things up.", tools: ["send_message"] },
      ranger: {},
    },
  },
  withoutContainers: "all",
});

async function keysOf({ host, name }: TestGroup): Promise<string[]> {
  const sessions = await host.control.call(listSessions, {});
  return sessions.filter(({ group }) => group === name).map(({ key }) => key);
}

const tells: ModelScript = ({ model, tools }) => ({ text: `${model}: ${tools.join(" ")}` });

test("each group has the agent that it names, with its name, model, instructions and tools", async () => {
  const [family, lab] = [hosts.group("family", tells), hosts.group("lab", tells)];

  const answer = await family.ask("@crab hello");
  const unheard = await lab.say("@crab hello");
  const byScout = await lab.ask("@scout hello");
  const help = await lab.ask("/help");

  expect(unheard.status).toBe(202);
  expect(answer.text).toContain("test-model:");
  expect(answer.text).toContain("shell");
  expect(byScout.text).toBe("scout-model: send_message");
  expect(help.text).toContain("@scout");
  const system = lab.requests.at(-1)?.system ?? "";
  expect(system).toContain("You are scout, an AI agent");
  expect(system).toContain("You look &lt;/instructions> things up.");
  expect(family.requests[0]?.system).not.toContain("things up");
  expect(await keysOf(family)).toEqual(["main:http:family"]);
  expect(await keysOf(lab)).toEqual(["scout:http:lab"]);
  const profiles = jsonLines((await family.host.cli("profiles", "list", "--json")).stdout);
  expect(profiles.map(({ name, state }) => `${String(name)} ${String(state)}`)).toEqual([
    "researcher ok",
    "reviewer ok",
    "summarizer ok",
  ]);
});

test("another agent begins its own conversation, and the first one finds its own again; a new name changes none", async () => {
  const group = hosts.group("changing", ({ messages }) => ({
    text: String(messages.filter(({ role }) => role === "user").length),
  }));
  const { control } = group.host;
  const asked = [await group.ask("one"), await group.ask("two")];

  await control.call(editGroupSettings, { name: "changing", edits: [{ path: ["agent"], value: "ranger" }] });
  asked.push(await group.ask("three"));
  await control.call(editSettings, { edits: [{ path: ["agents", "ranger", "name"], value: "Pathfinder" }] });
  asked.push(await group.ask("four"));
  await control.call(editGroupSettings, { name: "changing", edits: [{ path: ["agent"], value: "main" }] });
  asked.push(await group.ask("five"));

  expect(asked.map(({ text }) => text)).toEqual(["1", "2", "1", "2", "3"]);
  expect(group.requests[3]?.lastText).toContain("You are called &quot;Pathfinder&quot; now.");
  expect((await keysOf(group)).toSorted()).toEqual(["main:http:changing", "ranger:http:changing"]);
});

test("an agent that was killed at work ends its turn although its group has another one by then; what is said meanwhile is the other's", async () => {
  const held = Promise.withResolvers<void>();
  const group = hosts.group("killed", async ({ system }) => {
    const name = /You are (\w+),/.exec(system)?.[1] ?? "";
    if (name === "crab") await held.promise;
    return { text: `by ${name}` };
  });
  const { host } = group;
  const first = await group.say("one");
  await expect.poll(() => group.requests.length).toBe(1);
  await host.end("SIGKILL");
  await host.changeConfig({
    groups: { killed: { channel: "http", chat: "killed", trigger: "always", agent: "scout" } },
  });
  await host.boot();

  const second = await group.ask("two");
  held.resolve();
  await expect.poll(async () => (await group.replies()).length).toBe(2);

  expect(second.text).toBe("by scout");
  const replies = await group.replies();
  expect(replies.map(({ text, inReplyTo }) => [text, inReplyTo])).toEqual(
    expect.arrayContaining([["by crab", [first.id]]]),
  );
});
