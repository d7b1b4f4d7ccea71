import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { expect, test } from "vitest";

import { mainSessionKey, sideSessionKey } from "../../src/domain/turns/session.ts";
import type { NewWork } from "../../src/domain/work/work.ts";
import { openStore } from "../../src/stores/catalog.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { lineageOf } from "../support/lineages.ts";

const chat = { channel: "http", chat: "family" };

/** Answers with what it was told last, and says how much of the conversation it has seen. */
const echo: ModelScript = ({ messages, lastText }) => {
  const asked = messages.filter(({ role }) => role === "user").length;
  return { text: `${asked}: ${/<work [^>]*>(.*)<\/work>/s.exec(lastText)?.[1] ?? "a message"}` };
};

/** Puts work into the store of a host that does not run, as what causes it would. */
async function plan(host: TestHost, makeWork: (sessions: { main: string; task: string }) => Partial<NewWork>[]) {
  await using store = await openStore({ kind: "sqlite", path: join(host.home, "crabpot.sqlite") });
  const { id: main } = await store.sessions.open(mainSessionKey(chat), "family");
  const side = { kind: "task", parent: main } as const;
  const { id: task } = await store.sessions.open(sideSessionKey(chat, { ...side, id: "12" }), "family", side);
  for (const work of makeWork({ main, task })) {
    const id = randomUUID();
    await store.work.add(
      {
        id,
        group: "family",
        session: main,
        cause: "schedule",
        dueAt: Date.now(),
        replyTo: { kind: "chat", ...chat },
        origin: "owner",
        lineage: lineageOf("owner"),
        text: "do it",
        ...work,
      },
      Date.now(),
    );
  }
}

test("the operator gives an agent something to do: it answers in the chat, in its own conversation if told so", async () => {
  await using running = await startWithoutContainers(echo);
  const { host } = running;
  await host.ask("family", "@crab hello");

  const given = await host.cli("work", "add", "--group", "family", "look at <b>this</b>", "--json");
  const beside = await host.cli("work", "add", "--group", "family", "--session", "report", "count");
  const silent = await host.cli("work", "add", "--group", "family", "--silent", "--session", "quiet", "say nothing");

  expect([given.code, beside.code, silent.code]).toEqual([0, 0, 0]);
  await expect
    .poll(async () => (await host.replies()).map(({ text }) => text).toSorted())
    .toEqual(["1: a message", "1: count", "2: look at &lt;b&gt;this&lt;/b&gt;"]);
  const states = async () =>
    jsonLines((await host.cli("work", "list", "--json")).stdout).map(
      ({ text, state }) => `${String(text)} ${String(state)}`,
    );
  await expect.poll(states).toEqual(["say nothing settled", "count settled", "look at <b>this</b> settled"]);
  const turns = jsonLines((await host.cli("turns", "list", "--group", "family", "--json")).stdout);
  expect(turns.map(({ cause }) => String(cause)).toSorted()).toEqual(["api", "api", "api", "message"]);
  const sessions = jsonLines((await host.cli("sessions", "list", "--json")).stdout);
  expect(sessions.map(({ key, kind }) => `${String(kind)} ${String(key)}`)).toEqual([
    "main main:http:family",
    "api main:http:family:api:quiet",
    "api main:http:family:api:report",
  ]);
  expect(await host.cli("work", "drop", String(turns[0]?.["id"]))).toMatchObject({ code: 1 });
  expect((await host.cli("work", "add", "--group", "nobody", "x")).stderr).toContain('There is no group "nobody".');
});

test("sessions of one group work at the same time in their own containers, on the group's folder", async () => {
  const both = "n=0; while [ ! -e theirs ] && [ $n -lt 600 ]; do sleep 0.05; n=$((n+1)); done; cat theirs";
  const model: ModelScript = ({ toolOutputs, lastText }) => {
    if (toolOutputs.length > 0) return { text: toolOutputs.at(-1)?.split("\n")[0] ?? "" };
    const command = lastText.includes("wait for it")
      ? both
      : "echo $$ $(hostname) > made; mv made theirs; echo written";
    return { toolCalls: [{ name: "shell", input: { command } }] };
  };
  await using running = await startModelHost(model, { process: "shared" });
  const { host } = running;

  await host.cli("work", "add", "--group", "family", "--session", "waits", "wait for it");
  await expect.poll(() => host.containers()).toHaveLength(1);
  const answer = await host.ask("family", "@crab make it");

  expect(answer.text).toBe("written");
  const texts = async () => (await host.replies()).map(({ text }) => text).toSorted();
  await expect.poll(texts).toEqual([expect.stringMatching(/^\d+ \S+$/), "written"]);
  expect(await host.containers()).toHaveLength(2);
});

test("what a session hands to another one reaches the chat once; work for later waits for its time", async () => {
  await using running = await startWithoutContainers(echo);
  const { host } = running;
  await host.end("SIGTERM");
  const soon = Date.now() + 6_000;
  await plan(host, ({ main, task }) => [
    { session: task, cause: "agent", replyTo: { kind: "session", session: main }, text: "the report" },
    { dueAt: soon, text: "later", dedupe: "task:12:1" },
    { dueAt: soon, text: "later", dedupe: "task:12:1" },
  ]);

  await host.boot();

  await expect.poll(async () => (await host.replies()).map(({ text }) => text)).toHaveLength(2);
  // A slow machine is still busy with the report when the time has come: which is answered first is not certain.
  const texts = (await host.replies()).map(({ text }) => text);
  expect(texts.map((text) => text.replace(/^[12]: /, "")).toSorted()).toEqual(["1: the report", "later"]);
  const list = jsonLines((await host.cli("turns", "list", "--group", "family", "--json")).stdout);
  const [later, ...more] = list.filter(({ cause }) => cause === "schedule");
  expect(more).toEqual([]);
  expect(Number(later?.["startedAt"])).toBeGreaterThanOrEqual(soon);
});

test("a stop in the chat ends what the agent does in all its sessions", async () => {
  await using running = await startModelHost(
    () => ({ toolCalls: [{ name: "shell", input: { command: "sleep 300" } }] }),
    { config: { members: { "http:ann": "admin" } } },
  );
  const { host } = running;
  await host.cli("work", "add", "--group", "family", "--session", "long", "sleep");
  const atWork = async () => jsonLines((await host.cli("turns", "list", "--state", "running", "--json")).stdout).length;
  await expect.poll(atWork).toBe(1);

  const stopped = await host.ask("family", "/stop");

  expect(stopped.text).toContain("Stopped by");
  await expect.poll(atWork).toBe(0);
  expect(jsonLines((await host.cli("work", "list", "--json")).stdout)).toMatchObject([{ state: "settled" }]);
});
