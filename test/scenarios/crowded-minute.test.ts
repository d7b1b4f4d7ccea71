import { join } from "node:path";

import { expect, test } from "vitest";

import { openStore } from "../../src/stores/catalog.ts";
import { FakeChannel } from "../fakes/fake-channel.ts";
import { crowdNames, gatherCrowd, isSeparate } from "../support/crowd.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";

const groups = 40;
const tasksPerGroup = 6;
const places = 4;
/** Somebody speaks when this many turns have begun. */
const spokenAfter = 50;

test("when the tasks of many groups are due at once, each is run once and each group has its turn, and who speaks meanwhile is answered before all of them", async () => {
  let atOnce = 0;
  let most = 0;
  /** The group of each turn, in order; people's turns are empty. */
  const asked: string[] = [];
  const channel = new FakeChannel();
  await using model = await startOpenAiServer(async ({ lastText }) => {
    const [, task = "hello", group = ""] = /(look (\S+) \d+)/.exec(lastText) ?? [];
    most = Math.max(most, (atOnce += 1));
    asked.push(group);
    // In a group that has just had a turn: in that of a task which asks in its conversation the message would come
    // along.
    if (asked.length === spokenAfter) await channel.say(asked.find(isSeparate) ?? "", "hello");
    atOnce -= 1;
    return { text: task };
  });
  const config = { sessions: { maxHot: places } };
  await using crowd = await gatherCrowd({ groups, tasksPerGroup, channel, modelUrl: model.url, config });
  const host = await crowd.start();
  const replies = groups * tasksPerGroup + 1;
  await expect.poll(() => channel.attempts.length, { timeout: 300_000 }).toBe(replies);
  await host.settled();
  await host[Symbol.asyncDispose]();

  const spoken = asked.find(isSeparate);
  for (const name of crowdNames(groups)) {
    const own = Array.from({ length: tasksPerGroup }, (_, index) => `look ${name} ${index}`);
    expect(channel.heard(name).toSorted()).toEqual([...(name === spoken ? ["hello"] : []), ...own]);
  }
  expect(most).toBeLessThanOrEqual(places);
  // One that is told to end may still be there when the next one comes.
  expect(crowd.agents.most).toBeLessThanOrEqual(2 * places);
  expect(worstLead(asked)).toBeLessThanOrEqual(2);
  expect(await endsTold(crowd.home)).toHaveLength(groups * tasksPerGroup);
  // It waits for no more than what has a place already.
  expect(asked.indexOf("") - spokenAfter).toBeLessThanOrEqual(places);
}, 400_000);

test("tasks of one group that are all at work keep no place from a member of another group who speaks", async () => {
  const answered = Promise.withResolvers<void>();
  const channel = new FakeChannel();
  let tasks = 0;
  await using model = await startOpenAiServer(async ({ lastText }) => {
    if (!lastText.includes("look ")) return { text: "hello yourself" };
    tasks += 1;
    if (tasks === 1) void channel.say("speaker", "hello");
    // As long as a command that never ends.
    await answered.promise;
    return { text: "looked" };
  });
  const names = [...crowdNames(1), "speaker"];
  const chats = names.map((chat) => [chat, { channel: channel.name, chat, trigger: "always" }]);
  const config = { sessions: { maxHot: places }, groups: Object.fromEntries(chats) };
  const due = 12;
  await using crowd = await gatherCrowd({ groups: 1, tasksPerGroup: due, channel, modelUrl: model.url, config });
  const host = await crowd.start();

  await expect.poll(() => channel.heard("speaker"), { timeout: 120_000 }).toEqual(["hello yourself"]);
  const atWork = tasks;
  answered.resolve();
  await expect.poll(() => channel.heard("group-0").length, { timeout: 120_000 }).toBe(due);
  await host.settled();
  await host[Symbol.asyncDispose]();

  expect(atWork).toBe(1);
}, 300_000);

/** Reported ends of runs. */
async function endsTold(home: string) {
  await using store = await openStore({ kind: "sqlite", path: join(home, "crabpot.sqlite") });
  return (await store.events.before(Number.MAX_SAFE_INTEGER, { types: ["schedule.ended"] }, 10_000)).events;
}

/** Largest lead of a group over another, in turns. */
function worstLead(asked: readonly string[]): number {
  const counts = new Map(crowdNames(groups).map((name) => [name, 0]));
  let worst = 0;
  for (const group of asked) {
    if (group === "") continue;
    counts.set(group, (counts.get(group) ?? 0) + 1);
    // Who has had all that it has to do is no measure.
    const left = [...counts.values()].filter((count) => count < tasksPerGroup);
    if (left.length > 0) worst = Math.max(worst, Math.max(...counts.values()) - Math.min(...left));
  }
  return worst;
}
