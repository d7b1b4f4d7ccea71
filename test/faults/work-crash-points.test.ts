import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { expect, test } from "vitest";

import { mainSessionKey, sideSessionKey } from "../../src/domain/turns/session.ts";
import { causes } from "../../src/domain/work/work.ts";
import { openStore } from "../../src/stores/catalog.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { startMortalHost } from "../support/model-host.ts";
import { listWork } from "../../src/operations/work/operations.ts";
import { lineageOf } from "../support/lineages.ts";

/** Points of a turn without a message, and those with effects outside the host's memory. */
const points = [
  "before:turns.begin",
  "after:turns.begin",
  "before:record.turn-start",
  "before:mailbox.turn-start",
  "after:mailbox.turn-start",
  "before:turns.addStep#1",
  "after:turns.addStep#1",
  "before:mailbox.model-response#1",
  "after:mailbox.model-response#1",
  "before:turns.addStep#2",
  "after:turns.addStep#2",
  "before:turns.finish",
  "after:turns.finish",
  "before:record.turn-end",
  "after:outbox.setState#1",
  "after:channel.send",
];
const others = causes.filter((cause) => cause !== "message");

/** Leaves a mark, then answers. */
const model: ModelScript = ({ toolOutputs, lastText }) => {
  const [, id = "nothing"] = /<work [^>]*>go (\S+)<\/work>/.exec(lastText) ?? [];
  if (toolOutputs.length > 0) return { text: "done" };
  return { toolCalls: [{ name: "shell", input: { command: `echo ${id} >> runs` } }] };
};

const chatOf = (group: string) => ({ channel: "http", chat: group });

/** Work of each cause, one for each group: causes of a message's kind in main sessions, the others beside. */
async function plan(host: TestHost, group: string, cause: (typeof others)[number]): Promise<void> {
  await using store = await openStore({ kind: "sqlite", path: join(host.home, "crabpot.sqlite") });
  const chat = chatOf(group);
  const side = { kind: "task", id: "1" } as const;
  const isMain = cause === "approval" || cause === "api";
  const { id: session } = isMain
    ? await store.sessions.open(mainSessionKey(chat), group)
    : await store.sessions.open(sideSessionKey(chat, side), group, side);
  const now = Date.now();
  const replyTo = { kind: "chat", ...chat } as const;
  const text = `go ${group}`;
  const lineage = lineageOf("owner");
  const work = {
    id: randomUUID(),
    group,
    session,
    cause,
    dueAt: now,
    replyTo,
    origin: "owner",
    lineage,
    text,
  } as const;
  await store.work.add(work, now);
}

const crashes = points.map((at, index) => ({
  at,
  group: `group-${index}`,
  cause: others[index % others.length] ?? "api",
}));

test("every cause is among them", () => {
  expect(new Set(crashes.map(({ cause }) => cause))).toEqual(new Set(others));
});

test("killed at each point of the way of work of every cause, the host does each once and answers once", async () => {
  await using running = await startMortalHost(model, {
    groups: Object.fromEntries(crashes.map(({ group }) => [group, {}])),
    config: { sessions: { maxHot: 2 } },
  });
  const { host } = running;
  await host.end();
  const missed: string[] = [];

  for (const { at, group, cause } of crashes) {
    await plan(host, group, cause);
    if (!(await host.liveUntil(at))) missed.push(at);
  }
  await host.boot();
  const states = async () => (await host.control.call(listWork, { limit: 100 })).map(({ state }) => state);
  await expect.poll(states, { timeout: 120_000 }).toEqual(crashes.map(() => "settled"));
  // What nobody has asked for is tried again in silence, and says nothing in the chat when that was in vain.
  const unheard = jsonLines((await host.cli("turns", "list", "--limit", "100", "--json")).stdout)
    .filter(({ state, cause }) => state === "failed" && (cause === "schedule" || cause === "heartbeat"))
    .map(({ group }) => group);
  const heard = crashes.map(({ group }) => group).filter((group) => !unheard.includes(group));
  const answered = async () => (await host.replies()).map((reply) => reply.group).toSorted();
  await expect.poll(answered, { timeout: 120_000 }).toHaveLength(heard.length);
  const replies = await host.replies();
  const runs = await Promise.all(crashes.map(({ group }) => host.readGroupFile(group, "runs")));

  expect(missed).toEqual([]);
  expect(replies.map(({ group }) => group).toSorted()).toEqual(heard.toSorted());
  expect(heard.length).toBeGreaterThan(crashes.length / 2);
  // A command whose result was lost with the host is told as such, and never run again.
  expect(runs.filter((run, index) => run.replace(`${crashes[index]?.group}\n`, "") !== "")).toEqual([]);
}, 600_000);
