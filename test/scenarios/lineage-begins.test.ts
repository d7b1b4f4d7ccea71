import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { mainSessionKey } from "../../src/domain/turns/session.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";
import { openStore } from "../../src/stores/catalog.ts";
import type { TestHost } from "../support/host.ts";
import { lineageOf } from "../support/lineages.ts";
import { startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

const nothing: ModelScript = () => ({ text: "done" });

/** Stores work for a group's agent, asked for by this person, as another group or an earlier day would have. */
async function plan({ home }: TestHost, text: string, who: string): Promise<void> {
  await using store = await openStore({ kind: "sqlite", path: join(home, "crabpot.sqlite") });
  const chat = { channel: "http", chat: "family" };
  const { id: session } = await store.sessions.open(mainSessionKey(chat), "family");
  const work = { id: randomUUID(), group: "family", session, cause: "agent", dueAt: 1, text } as const;
  const lineage = lineageOf("admin", "http:ada", who);
  await store.work.add({ ...work, replyTo: { kind: "chat", ...chat }, origin: "agent", lineage }, 1);
}

test("work does not begin for somebody who is denied by then, or may not set the agent to work", async () => {
  const groups = { family: { access: { trigger: "member", deny: ["http:gus"] } } };
  const people = { ada: { ids: ["http:ada"], role: "admin" }, eve: { ids: ["http:eve"], role: "guest" } };
  await using running = await startWithoutContainers(nothing, { groups, config: { people }, prepared: true });
  const { host, model } = running;
  await plan(host, "words of gus", "http:gus");
  await plan(host, "words of eve", "http:eve");
  await plan(host, "words of mia", "http:mia");

  await host.boot();

  const refused = "somebody behind it may not set the agent of this group to work";
  const texts = async () => (await host.replies()).map(({ text }) => text.replace("I could not finish this: ", ""));
  await expect.poll(texts).toEqual([`${refused}.`, `${refused}.`, "done"]);
  const turns = await host.control.call(listTurns, { group: "family", limit: 9 });
  expect(turns.map(({ state, reason }) => `${state}: ${reason ?? ""}`)).toEqual([
    "done: ",
    `failed: ${refused}.`,
    `failed: ${refused}.`,
  ]);
  const shown = JSON.stringify(model.requests.map(({ messages }) => messages));
  expect(shown).toContain("words of mia");
  expect(shown).not.toMatch(/words of (?:gus|eve)/);
});

test("what a sub-agent hands to another session is narrowed by its profile there, too", async () => {
  const results: string[] = [];
  const script: ModelScript = ({ messages, lastText, system }) => {
    const isSubAgent = system.includes("You are a sub-agent of");
    const main = /main is (\w+)/.exec(lastText)?.[1];
    if (messages.at(-1)?.role === "tool") {
      results.push(`${isSubAgent ? "sub-agent" : "main"}: ${lastText}`);
      return { text: "done" };
    }
    if (isSubAgent && main !== undefined)
      return { toolCalls: [{ name: "sessions_send", input: { session: main, text: "please react" } }] };
    if (lastText.includes("please react"))
      return { toolCalls: [{ name: "send_message", input: { text: "out of the profile" } }] };
    if (main === undefined) return { text: "hello" };
    return { toolCalls: [{ name: "spawn_agent", input: { task: `main is ${main}`, agent: "reader" } }] };
  };
  await using running = await startWithoutContainers(script, {
    config: { sessions: { visibility: "group" } },
    prepared: true,
  });
  const { host } = running;
  await mkdir(join(host.home, "agents"), { recursive: true, mode: 0o700 });
  const profile = "---\ndescription: Reads.\npermissions:\n  - { tool: send_message, action: deny }\n---\nRead.\n";
  await writeFile(join(host.home, "agents", "reader.md"), profile, { mode: 0o600 });
  await host.boot();

  const [turn] = await host
    .ask("family", "@crab hello")
    .then(() => host.control.call(listTurns, { group: "family", limit: 1 }));
  await host.ask("family", `@crab main is ${turn?.session}`);

  await expect.poll(() => results.find((result) => result.includes("policy does not allow"))).toMatch(/^main: /);
  expect((await host.replies()).map(({ text }) => text)).not.toContain("out of the profile");
});
