import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { jsonLines } from "../support/crabpot.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";
import type { NewMemory } from "../../src/processes/memory-schemas.ts";

const dayMs = 86_400_000;

function said(id: string, text: string, time: number, more: Partial<NewMemory> = {}): NewMemory {
  return { id, category: "conversation", text, time, sender: "Ann", origin: "member", sources: [id], ...more };
}

test("what is too old goes for good when the group is quiet and its time has come, and is on record", async () => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now() };
  const hygiene = { everyHours: 12, keepDays: { conversation: 30, recipes: 7 } };
  const memory = { enabled: true, embeddings: "none", extract: { everyMessages: 0 }, hygiene };
  await using host = await openEmbeddedHost({ memory }, { clock });
  const path = join(host.home, "memory", "office.sqlite");
  const cleaned = (): number => {
    using file = MemoryFile.open(path);
    return file.progress().cleaned;
  };
  const told = async () => jsonLines((await host.cli("audit", "export")).stdout).filter(isCleaning);
  await host.channel.say("home", "/help");
  // An empty memory is cleaned as soon as there is one.
  await expect.poll(cleaned).toBe(now);
  {
    using file = MemoryFile.open(path);
    file.put([
      said("old", "the zeppelin lands", now - 31 * dayMs),
      said("source", "I moved to Ghent", now - 31 * dayMs),
      said("young", "the kayak floats", now - 2 * dayMs),
      said("fact-1", "Ann lives in Ghent", now - 31 * dayMs, { category: "core", sources: ["source"] }),
      said("pie", "an apple pie", now - 8 * dayMs, { category: "recipes" }),
    ]);
  }
  expect(await told()).toEqual([]);

  now += 12 * 3_600_000 + 1;
  await host.channel.say("home", "/help");
  await expect.poll(cleaned).toBe(now);

  using file = MemoryFile.open(path);
  expect([...file.all()].map(({ id }) => id)).toEqual(["source", "young", "fact-1"]);
  for (const name of [path, `${path}-wal`]) expect(readFileSync(name).toString("latin1")).not.toMatch(/zeppelin|apple/);
  const data = { run: new Date(now).toISOString(), categories: { conversation: 1, recipes: 1 }, superseded: 0 };
  expect(await told()).toEqual([expect.objectContaining({ group: "office", data })]);
});

function isCleaning({ type }: Record<string, unknown>): boolean {
  return type === "memory-cleaned";
}
