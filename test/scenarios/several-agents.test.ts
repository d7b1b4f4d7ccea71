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
