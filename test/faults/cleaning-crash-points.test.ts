import { join } from "node:path";

import { expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost, startMortalHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import type { NewMemory } from "../../src/processes/memory-schemas.ts";

const dayMs = 86_400_000;
const hygiene = { everyHours: 12, keepDays: { conversation: 30 } };
const config = { memory: { enabled: true, embeddings: "none", extract: { everyMessages: 0 }, hygiene } };
const model: ModelScript = () => ({ text: "ok" });

function said(id: string, time: number): NewMemory {
  return { id, category: "conversation", text: `said ${id}`, time, sender: "Ann", origin: "member", sources: [id] };
}

const pathOf = (host: TestHost, group: string): string => join(host.home, "memory", `${group}.sqlite`);

/** Gives a group one memory to keep and others that are too old. */
function fill(host: TestHost, group: string, count: number): void {
  using file = MemoryFile.open(pathOf(host, group));
  file.put(Array.from({ length: count }, (_, n) => said(`o-${n}`, Date.now() - 31 * dayMs)));
  file.put([said("young", Date.now())]);
}

function left(host: TestHost, group: string): string[] {
  using file = MemoryFile.open(pathOf(host, group));
  return [...file.all()].map(({ id }) => id);
}

/** Waits until the host has removed all that is old and nothing else, and has recorded that once for each group. */
async function isCleaned(host: TestHost, groups: readonly string[]): Promise<void> {
  const isOver = (group: string): boolean => left(host, group).length === 1;
  await expect.poll(() => groups.filter(isOver), { timeout: 120_000 }).toEqual(groups);
  for (const group of groups) expect(left(host, group)).toEqual(["young"]);
  const records = jsonLines((await host.cli("audit", "export")).stdout);
  const told = records.filter(({ type }) => type === "memory-cleaned");
  const runsOf = (group: string) => new Set(told.flatMap((one) => (one["group"] === group ? [runOf(one)] : [])));
  expect(groups.map((group) => runsOf(group).size)).toEqual(groups.map(() => 1));
}

function runOf({ data }: Record<string, unknown>): unknown {
  return (data as { run: string }).run;
}

test("killed before and after the record of a cleaning, the host removes all that is old, and nothing else", async () => {
  await using running = await startMortalHost(model, { groups: { one: {}, two: {} }, config });
  const { host } = running;
  await host.end();
  const crash = async (group: string, at: string): Promise<void> => {
    fill(host, group, 20);
    expect(await host.liveUntil(at)).toBe(true);
    expect(left(host, group)).toHaveLength(21);
  };

  await crash("one", "before:record.memory-cleaned");
  await crash("two", "after:record.memory-cleaned");
  await host.boot();

  await isCleaned(host, ["one", "two"]);
}, 300_000);

/** A thread removes them, so that only the end of the process ends it. */
test("killed in the middle of a cleaning, the host removes all that is old, and nothing else", async () => {
  await using running = await startModelHost(model, { config });
  const { host } = running;
  await host.end("SIGTERM");
  fill(host, "family", 20_000);
  host.launch();

  await expect.poll(() => left(host, "family").length, { timeout: 120_000, interval: 20 }).toBeLessThan(20_001);
  await host.end("SIGKILL");
  const middle = left(host, "family").length;
  await host.boot();

  await isCleaned(host, ["family"]);
  expect(middle).toBeGreaterThan(1);
}, 300_000);
