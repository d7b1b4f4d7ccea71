import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { expect, test } from "vitest";

import { findViolations } from "../support/checker.ts";
import { TestHost } from "../support/host.ts";
import { groupOf, startWithoutContainers } from "../support/model-host.ts";
import type { ModelServerRequest, ScriptedReply } from "../support/model-servers/model-server.ts";
import { seededRandom } from "../support/random.ts";
import { Client, endAndAudit, listTurns, speakInAll } from "../support/traffic.ts";

/** Faults of a model's server at a group's first request, by group name. */
const modelFaults: Record<string, (answer: ScriptedReply) => ScriptedReply | Promise<ScriptedReply>> = {
  down: () => ({ fault: "status", status: 503 }),
  "hanging-up": () => ({ fault: "hang-up" }),
  limited: () => ({ fault: "status", status: 429, headers: { "retry-after": "1" } }),
  cut: (answer) => ({ fault: "cut", answer: "fault" in answer ? {} : answer }),
  slow: (answer) => delay(1_500).then(() => answer),
  silent: () => ({ fault: "silence" }),
};

test("a model that is down, hangs up, limits, is slow, falls silent or is cut off in the middle is asked again", async () => {
  const asked = new Set<string>();
  const answer = { text: "an answer that comes in several pieces" };
  const model = (request: ModelServerRequest): ScriptedReply | Promise<ScriptedReply> => {
    const group = groupOf(request);
    if (asked.has(group)) return answer;
    asked.add(group);
    return modelFaults[group]?.(answer) ?? answer;
  };
  const groups = Object.keys(modelFaults);
  await using running = await startWithoutContainers(model, {
    groups: Object.fromEntries(groups.map((group) => [group, {}])),
    // A try more than the fault takes: on a busy machine a good answer may come too late as well.
    models: { timeoutSeconds: 3, attempts: 5 },
  });
  const client = new Client(running.host);

  for (const group of groups) await client.say({ group, id: `${group}-1`, text: "@crab hello" });
  await client.readAll(120_000);

  expect(client.unanswered).toEqual([]);
  expect(new Set(client.replies.map(({ kind, text }) => `${kind}: ${text}`))).toEqual(
    new Set([`reply: ${answer.text}`]),
  );
});

function fourHundred(_group: string, index: number): string | undefined {
  return index < 400 ? "@crab hello" : undefined;
}

test("1,200 messages that wait are answered in order, each once, and nothing is refused for good", async () => {
  const groups = ["one", "two", "three"];
  const held = Promise.withResolvers<void>();
  await using running = await startWithoutContainers(
    async () => {
      await held.promise;
      return { text: "done" };
    },
    {
      groups: Object.fromEntries(groups.map((group) => [group, {}])),
      config: { intake: { perSenderPerMinute: 10_000 } },
    },
  );
  const { host } = running;
  const client = new Client(host);

  await speakInAll(client, { groups, next: fourHundred, cutPercent: 2, pauseMs: () => 0 }, seededRandom(7));
  await host.end("SIGKILL");
  held.resolve();
  await host.boot();
  await client.readAll(180_000);
  const turns = await listTurns(host, groups);
  const end = await endAndAudit(host);

  expect(client.sent).toHaveLength(1_200);
  expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
}, 600_000);

test("a store that another process locks for longer than we wait holds turns and messages up and loses none", async () => {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await using running = await startWithoutContainers(
    async () => {
      asked.resolve();
      await held.promise;
      return { text: "done" };
    },
    { process: "own" },
  );
  const { host } = running;
  const client = new Client(host);
  const fixture = resolve(import.meta.dirname, "../fixtures/stores/store-blocker.ts");

  await client.say({ group: "family", id: "one", text: "@crab hello" });
  await asked.promise;
  const blocker = spawn(process.execPath, [fixture, join(host.home, "crabpot.sqlite"), "7000"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(blocker.stdout, "data");
  held.resolve();
  await client.say({ group: "family", id: "two", text: "@crab hello again" });
  await client.readAll(120_000);
  const turns = await listTurns(host, ["family"]);
  const end = await endAndAudit(host);

  expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
  expect(new Set(client.replies.map(({ kind }) => kind))).toEqual(new Set(["reply"]));
}, 300_000);

test("a client that hangs up when it has sent its message and then sends it again is answered once", async () => {
  await using host = await TestHost.start({ withoutContainers: "all", shellHere: true });
  const client = new Client(host);
  const messages = Array.from({ length: 20 }, (_, index) => ({
    group: "family",
    id: `m${index}`,
    text: `@crab run true`,
  }));

  for (const message of messages) {
    await client.sayAndHangUp(message);
    await client.say(message);
  }
  await client.readAll(120_000);
  const turns = await listTurns(host, ["family"]);
  const end = await endAndAudit(host);

  expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
});
