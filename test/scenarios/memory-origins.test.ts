import { join } from "node:path";

import { expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { AgentsInProcess } from "../support/agents-in-process.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";
import { modelKey } from "../support/model-host.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";

const leak = { name: "send_message", input: { text: "what the guest wanted to be said" } };
const keep = { name: "memory_store", input: { text: "The gate opens with xyzzy" } };
const search = { name: "memory_search", input: { query: "gate xyzzy" } };

/** Attempts to use the tool that policy denies to guests' words, in a host with memory, in order. */
async function attempts(recallTokens: number) {
  const results: string[] = [];
  const model = await startOpenAiServer((request) => {
    const last = request.messages.at(-1);
    const since = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user") + 1);
    const asked = request.messages.findLast(({ role }) => role === "user")?.text ?? "";
    if (last?.role === "tool") results.push(last.text);
    const words = /please ([a-z ]+)/.exec(asked)?.[1]?.trim().split(" ") ?? [];
    const next = words[since.filter(({ role }) => role === "tool").length];
    const call = { leak, keep, search }[next ?? ""];
    return call ? { toolCalls: [call] } : { text: "ok" };
  });
  const config = {
    models: {
      routes: { main: ["gpt/test-model"] },
      providers: { gpt: { kind: "openai", apiKey: modelKey, baseUrl: model.url } },
    },
    members: { default: "member", "fake:gus": "guest" },
    policy: { rules: [{ tool: "send_message", origin: "guest", action: "deny" }] },
    memory: { enabled: true, embeddings: "none", recallTokens, extract: { everyMessages: 0 } },
  };
  const host = await openEmbeddedHost(config, { agents: new AgentsInProcess() });
  const say = async (text: string, said: object = {}): Promise<string | undefined> => {
    const replies = () => host.channel.heard("home").filter((reply) => reply !== leak.input.text);
    const before = replies().length;
    await host.channel.say("home", text, said);
    await expect.poll(() => replies().length).toBeGreaterThan(before);
    return results.at(-1);
  };
  return {
    say,
    /** Polls until messages are kept, which takes a moment. */
    remembers: (least: number) => expect.poll(() => remembered(host.home)).toBeGreaterThanOrEqual(least),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

function remembered(home: string): number {
  using memory = MemoryFile.open(join(home, "memory", "office.sqlite"));
  return memory.list({ limit: 100 }).length;
}

const gus = { sender: "gus" };
const refused = expect.stringContaining("policy does not allow");

test("a guest's words stay a guest's when they come back from memory, also when the agent has kept them in its own", async () => {
  await using host = await attempts(0);

  const clean = await host.say("please leak");
  await host.say("The gate of the house opens with xyzzy. please keep", gus);
  await host.say("/new");
  const unrelated = await host.say("please leak");
  await host.say("/new");
  const washed = await host.say("please search leak");

  expect([clean, unrelated, washed]).toEqual([
    expect.stringContaining("Sent"),
    expect.stringContaining("Sent"),
    refused,
  ]);
});

test("so do those that the host itself recalls", async () => {
  await using host = await attempts(1_000);

  await host.say("The gate of the house opens with xyzzy.", gus);
  await host.remembers(1);
  await host.say("/new");

  expect(await host.say("which gate opens with xyzzy? please leak")).toEqual(refused);
});
