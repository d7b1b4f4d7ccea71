import { once } from "node:events";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readEvents } from "../../src/records/events/read-events.ts";
import { openEventReader } from "../../src/stores/catalog.ts";
import { crashAtVariable, listCrashPoints } from "../support/crash-points.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { findViolations } from "../support/checker.ts";
import { surroundings } from "../support/engine.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost, startMortalHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { openTestStore } from "../support/open-test-store.ts";
import { Client, endAndAudit, listTurns } from "../support/traffic.ts";

/*
 * Points of a message. Reads are left out: a crash around one equals a crash at the next write. So is everything
 * between two records or reads.
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
/** Points with effects outside the host's memory, unknown until the next step. */
const effects = [
  "messages.insert",
  "turns.begin",
  "mailbox.turn-start",
  "turns.addStep#1",
  "mailbox.model-response#1",
  "outbox.add",
  "turns.addStep#2",
  "turns.finish",
  "channel.send",
];
/** The same of the container on this way: what the engine has of it when the host is gone is asked from real ones. */
const stepsOfContainer = [
  "record.container-create",
  "engine.create",
  "engine.attach",
  "record.container-start",
  "engine.start",
  "engine.inspect",
  "engine.remove",
  "record.container-attested",
  "mailbox.turn-start",
];
const effectsOfContainer = ["engine.create", "engine.start", "engine.remove", "mailbox.model-response#1"];

const pointsAt = (before: readonly string[], after: readonly string[]): string[] => [
  ...before.map((step) => `before:${step}`),
  ...after.map((effect) => `after:${effect}`),
];

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

const messageTo = (group: string) => ({ group, id: `${group}-1`, text: `@crab go ${group}-1` });

/** Sends unacknowledged messages again, in order. */
async function speak(host: TestHost, client: Client, newest: number): Promise<void> {
  const hasEnded = (): boolean => !host.isRunning;
  const numbers = Array.from({ length: newest + 1 }, (_, number) => number);
  for (const number of numbers.slice(-4)) await client.say(messageTo(`group-${number}`), hasEnded);
  await client.readAll(60_000, hasEnded);
}

/** Lives until it dies at this point, while somebody speaks. False: it did not get there. */
type LiveUntil = (point: string, speaking: () => Promise<void>) => Promise<boolean>;

/** Lets the host crash at each point, one after the other: each life goes on with what the one before has left. */
async function crashAtEach(
  { host }: { readonly host: TestHost },
  points: readonly string[],
  liveUntil: LiveUntil,
): Promise<void> {
  const client = new Client(host);
  const groups = points.map((_, index) => `group-${index}`);
  const missed: string[] = [];
  for (const [index, at] of points.entries()) {
    if (!(await liveUntil(at, () => speak(host, client, index)))) missed.push(at);
  }
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
}

function groupFor(points: readonly string[]): Record<string, object> {
  return Object.fromEntries(points.map((_, index) => [`group-${index}`, {}]));
}

test.concurrent("killed at each point of the way of a message, the host answers all once, in order, and runs no command twice", async () => {
  const points = pointsAt(steps, effects);
  const config = { sessions: { maxHot: 1 } };
  await using running = await startMortalHost(model, { groups: groupFor(points), config, prepared: true });
  const { host } = running;

  await crashAtEach(running, points, (at, speaking) => host.liveUntil(at, speaking));
}, 900_000);

test.concurrent("killed at each point of the way of a container, the host answers all once, in order, runs no command twice, and leaves none behind", async () => {
  const points = pointsAt(stepsOfContainer, effectsOfContainer);
  const config = { sessions: { maxHot: 1 } };
  await using running = await startModelHost(model, { groups: groupFor(points), config, prepared: true });
  const { host } = running;

  await crashAtEach(running, points, async (at, speaking) => {
    const died = once(host.launch({ [crashAtVariable]: at }), "exit", { signal: AbortSignal.timeout(120_000) });
    const isDead = died.then(
      () => true,
      () => false,
    );
    await speaking();
    // Some points come after the reply that has just been read.
    const hasDied = await isDead;
    await host.end("SIGKILL");
    return hasDied;
  });
}, 900_000);

test("the points of the way exist", async () => {
  await using opened = await openTestStore();
  await using engine = await openEngine(surroundings);

  const existing = listCrashPoints({ store: opened.store, engine });

  const all = [...steps, ...stepsOfContainer, ...effects, ...effectsOfContainer];
  expect(all.filter((step) => !existing.includes(step.replace(/#.*/, "")))).toEqual([]);
});
