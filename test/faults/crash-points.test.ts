import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { readEvents } from "../../src/records/events/read-events.ts";
import { openEventReader } from "../../src/stores/catalog.ts";
import { listCrashPoints } from "../support/crash-points.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { findViolations } from "../support/checker.ts";
import { surroundings } from "../support/engine.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { openTestStore } from "../support/open-test-store.ts";
import { Client, endAndAudit, listTurns } from "../support/traffic.ts";

/*
 * What a message passes on its way. Reads are not among them: a crash around one leaves what a crash at the write next to it
 * leaves. Nor is what lies between two records or reads: the end of one thing is the beginning of the next.
 */
const steps = [
  "record.host-start",
  "messages.insert",
  "record.message-in",
  "chats.seen",
  "sessions.open",
  "turns.begin",
  "record.turn-start",
  "sessions.nextGeneration",
  "sessions.nextMailboxBlock",
  "record.container-create",
  "engine.create",
  "engine.attach",
  "record.container-start",
  "engine.start",
  "engine.inspect",
  "engine.remove",
  "record.container-attested",
  "sessions.offerTools",
  "mailbox.turn-start",
  "usage.reserve",
  "usage.settle",
  "turns.addStep#1",
  "turns.addAttempt",
  "record.tool-call",
  "mailbox.model-response#1",
  "outbox.add",
  "mailbox.tool-response",
  "turns.addStep#2",
  "record.tool-result",
  "turns.addStep#3",
  "mailbox.model-response#2",
  "turns.finish",
  "record.turn-end",
  "outbox.setState#1",
  "channel.send",
  "outbox.setState#2",
  "record.delivery",
  "audit.append#2",
];
/** What has an effect outside the host's memory: between it and the next step, only the effect knows of it. */
const effects = [
  "messages.insert",
  "turns.begin",
  "engine.create",
  "engine.start",
  "mailbox.turn-start",
  "turns.addStep#1",
  "mailbox.model-response#1",
  "outbox.add",
  "turns.addStep#2",
  "turns.finish",
  "channel.send",
  "engine.remove",
];
const points = [...steps.map((step) => `before:${step}`), ...effects.map((effect) => `after:${effect}`)];

/** Says a word in between, runs a command that leaves a mark, then answers. */
const model: ModelScript = (request) => {
  if (request.toolOutputs.length > 0) return { text: `done: ${request.toolOutputs.length}` };
  const ids = [...request.lastText.matchAll(/go (\S+-\d+)/g)].map((match) => match[1]);
  const command = ids.map((id) => `echo ${id} >> runs`).join("; ");
  return {
    toolCalls: [
      { name: "send_message", input: { text: "wait" } },
      { name: "shell", input: { command } },
    ],
  };
};

/** Lets the host crash at each point, one after the other: each life goes on with what the one before has left. */
async function crashAtEach(host: TestHost, client: Client, crashes: readonly string[]): Promise<string[]> {
  const missed: string[] = [];
  for (const [index, at] of crashes.entries()) {
    host.launch({ CRABPOT_CRASH_AT: at });
    const hasEnded = (): boolean => !host.isRunning;
    // What the host died before it acknowledged is sent again, in order.
    const messages = crashes.slice(0, index + 1).map((_, number) => messageTo(`group-${number}`));
    for (const message of messages.slice(-4)) await client.say(message, hasEnded);
    await client.readAll(60_000, hasEnded);
    // Some points come after the reply that has just been read.
    const isOver = vi.waitUntil(hasEnded, { timeout: 60_000, interval: 5 });
    await isOver.catch(() => missed.push(at));
    await host.end("SIGKILL");
  }
  return missed;
}

const messageTo = (group: string) => ({ group, id: `${group}-1`, text: `@crab go ${group}-1` });

const halves = [0, 1].map((half) => points.filter((_, index) => index % 2 === half));

test.concurrent.each(halves)(
  "killed at each point of the way of a message, the host answers all once, in order, and runs no command twice (%#)",
  async (...crashes) => {
    const groups = crashes.map((_, index) => `group-${index}`);
    await using running = await startModelHost(model, {
      groups: Object.fromEntries(groups.map((group) => [group, {}])),
      config: { sessions: { maxHot: 1 } },
    });
    const { host } = running;
    const client = new Client(host);
    await host.end("SIGTERM");

    const missed = await crashAtEach(host, client, crashes);
    await host.boot();
    for (const group of groups) await client.say(messageTo(group));
    await client.readAll(240_000);
    const turns = await listTurns(host, groups);
    const runs = await Promise.all(groups.map((group) => host.readGroupFile(group, "runs")));
    const end = await endAndAudit(host);
    await using events = await openEventReader({ kind: "sqlite", path: join(host.home, "crabpot.sqlite") });
    const numbers = await Array.fromAsync(readEvents(events, { after: 0, last: 0 }), ({ seq }) => seq);

    expect(missed).toEqual([]);
    expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
    expect(runs.filter((run) => run.split("\n").length > 2)).toEqual([]);
  },
  900_000,
);

test("the points of the way exist", async () => {
  await using opened = await openTestStore();
  await using engine = await openEngine(surroundings);

  const existing = listCrashPoints({ store: opened.store, engine });

  expect(steps.filter((step) => !existing.includes(step.replace(/#.*/, "")))).toEqual([]);
});
