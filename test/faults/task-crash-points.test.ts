import { join } from "node:path";

import { expect, test } from "vitest";

import { openStore } from "../../src/stores/catalog.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { startMortalHost } from "../support/model-host.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { listTasks } from "../../src/abilities/tasks/operations.ts";
import { lineageOf } from "../support/lineages.ts";

/** Points of a due time from its claim to the end of its run. */
const points = [
  "before:tasks.claim",
  "after:tasks.claim",
  "before:turns.begin",
  "after:turns.begin",
  "before:turns.finish",
  "after:turns.finish",
  "before:record.schedule",
  "before:tasks.settle",
  "after:tasks.settle",
  "before:sessions.archiveSettled#2",
  "after:sessions.archiveSettled#2",
  "after:channel.send",
];

const model: ModelScript = ({ lastText }) => ({ text: /<work [^>]*>(.*)<\/work>/s.exec(lastText)?.[1] ?? "" });

test("killed at each point of the way of a task that is due, the host runs it once and answers once", async () => {
  const crashes = points.map((at, index) => ({ at, group: `group-${index}` }));
  await using running = await startMortalHost(model, {
    groups: Object.fromEntries(crashes.map(({ group }) => [group, {}])),
  });
  const { host } = running;
  await host.end();
  const missed: string[] = [];

  for (const { at, group } of crashes) {
    await plan(join(host.home, "crabpot.sqlite"), group);
    if (!(await host.liveUntil(at))) missed.push(at);
  }
  await host.boot();
  const tasks = () => host.control.call(listTasks, {});
  await expect
    .poll(async () => (await tasks()).map(({ lastRun }) => lastRun?.state), {
      timeout: 120_000,
    })
    .toEqual(crashes.map(() => "done"));
  await expect.poll(async () => (await host.replies()).length, { timeout: 120_000 }).toBe(crashes.length);

  expect(missed).toEqual([]);
  expect((await host.replies()).map(({ group }) => group).toSorted()).toEqual(
    crashes.map(({ group }) => group).toSorted(),
  );
  const sessions = await host.control.call(listSessions, {});
  expect(sessions.filter(({ kind }) => kind === "task")).toEqual([]);
}, 600_000);

/** A task that is due now, in the store of a host that does not run. */
async function plan(path: string, group: string): Promise<void> {
  await using store = await openStore({ kind: "sqlite", path });
  const now = Date.now();
  await store.tasks.add(
    {
      id: `t-${group}`,
      group: { name: group, channel: "http", chat: group },
      name: group,
      prompt: `go ${group}`,
      timing: { kind: "at", at: now },
      timezone: "UTC",
      mode: "isolated",
      missed: "latest",
      origin: "owner",
      lineage: lineageOf("owner"),
      next: now,
      createdAt: now,
    },
    50,
  );
}
