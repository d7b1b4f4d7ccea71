import { expect, test } from "vitest";

import { crashingHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { listJobs } from "../../src/abilities/jobs/operations.ts";
import { listWork } from "../../src/operations/work/operations.ts";

/** Points of a job from its announcement to the notice for its agent. */
const points = [
  "before:record.job-start",
  "before:jobs.begin",
  "after:jobs.begin",
  "before:record.job-end",
  "after:record.job-end",
  "before:jobs.end",
  "after:jobs.end",
];

/** Has a job that ends when nobody is at work anymore, and says what it is told about it. */
const model: ModelScript = ({ lastText, messages }) => {
  if (lastText.includes('cause="job-ended"')) return { text: "told" };
  if (messages.at(-1)?.role === "tool") return { text: "begun" };
  return { toolCalls: [{ name: "shell", input: { command: "sleep 2", background: true } }] };
};

test("killed at each point of the way of a job, the host tells its agent of the end once, and none is left running", async () => {
  const crashes = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startModelHost(model, {
    groups: Object.fromEntries(crashes.map(({ group }) => [group, {}])),
    program: crashingHost,
  });
  const { host } = running;
  const jobs = () => host.control.call(listJobs, { all: true, limit: 100 });
  const work = () => host.control.call(listWork, { limit: 100 });
  const isSettled = async () =>
    (await jobs()).every(({ state }) => state !== "running") &&
    (await work()).every(({ state }) => state === "settled");
  const missed: string[] = [];

  for (const { at, group } of crashes) {
    if (!(await host.dieAt(at, () => host.say(group, "@crab begin")))) missed.push(at);
    // What one has left must not be what the next one dies of.
    await expect.poll(isSettled, { timeout: 120_000, interval: 20 }).toBe(true);
  }
  await expect.poll(async () => (await jobs()).filter(({ state }) => state === "running")).toEqual([]);
  expect((await work()).filter(({ state }) => state !== "settled")).toEqual([]);
  const ofGroup = async (group: string) =>
    (await host.replies()).filter((reply) => reply.group === group && reply.inReplyTo.length > 0);
  for (const { group } of crashes) await expect.poll(() => ofGroup(group), { timeout: 120_000 }).toHaveLength(1);

  expect(missed).toEqual([]);
  const groups = (await jobs()).map(({ group }) => group).toSorted();
  // One that was not on record when the host died is missing, and its call is told as interrupted.
  expect(groups).toEqual(crashes.slice(2).map(({ group }) => group));
  expect((await work()).map(({ group }) => group).toSorted()).toEqual(groups);
}, 300_000);
