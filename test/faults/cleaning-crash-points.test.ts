import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import type { NewMemory } from "../../src/abilities/memory/item.ts";
import { jsonLines } from "../support/crabpot.ts";
import { startModelHost } from "../support/model-host.ts";

const dayMs = 86_400_000;
const groups = { one: {}, two: {}, three: {} };

function old(id: string, time: number): NewMemory {
  return { id, category: "conversation", text: `said ${id}`, time, sender: "Ann", origin: "member", sources: [id] };
}

test("killed before, after and in the middle of a cleaning, the host removes all that is old, and nothing else", async () => {
  const hygiene = { everyHours: 12, keepDays: { conversation: 30 } };
  const memory = { enabled: true, embeddings: "none", extract: { everyMessages: 0 }, hygiene };
  await using running = await startModelHost(() => ({ text: "ok" }), { groups, config: { memory } });
  const { host } = running;
  await host.end("SIGTERM");
  const pathOf = (group: string): string => join(host.home, "memory", `${group}.sqlite`);
  const left = (group: string): string[] => {
    using file = MemoryFile.open(pathOf(group));
    return [...file.all()].map(({ id }) => id);
  };
  const crash = async (group: string, at: string): Promise<void> => {
    using file = MemoryFile.open(pathOf(group));
    file.put([
      old("young", Date.now()),
      ...Array.from({ length: 20 }, (_, n) => old(`o-${n}`, Date.now() - 31 * dayMs)),
    ]);
    host.launch({ CRABPOT_CRASH_AT: at });
    await vi.waitUntil(() => !host.isRunning, { timeout: 120_000, interval: 5 });
    await host.end("SIGKILL");
  };

  await crash("one", "before:record.memory-cleaned");
  expect(left("one")).toHaveLength(21);
  await crash("two", "after:record.memory-cleaned");
  expect(left("two")).toHaveLength(21);
  {
    using file = MemoryFile.open(pathOf("three"));
    file.put(Array.from({ length: 20_000 }, (_, n) => old(`o-${n}`, Date.now() - 31 * dayMs)));
    file.put([old("young", Date.now())]);
  }
  host.launch({});
  await expect.poll(() => left("three").length, { timeout: 120_000, interval: 20 }).toBeLessThan(20_001);
  await host.end("SIGKILL");
  const middle = left("three").length;
  await host.boot();

  const isOver = (group: string): boolean => left(group).length === 1;
  await expect.poll(() => Object.keys(groups).filter(isOver), { timeout: 120_000 }).toHaveLength(3);
  expect(middle).toBeGreaterThan(1);
  for (const group of Object.keys(groups)) expect(left(group)).toEqual(["young"]);
  const records = jsonLines((await host.cli("audit", "export")).stdout);
  const told = records.filter(({ type }) => type === "memory-cleaned");
  const runsOf = (group: string) => new Set(told.flatMap((one) => (one["group"] === group ? [runOf(one)] : [])));
  expect(Object.keys(groups).map((group) => runsOf(group).size)).toEqual([1, 1, 1]);
}, 300_000);

function runOf({ data }: Record<string, unknown>): unknown {
  return (data as { run: string }).run;
}
