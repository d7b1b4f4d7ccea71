import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { LongestFirst } from "../../support/longest-first.ts";

const root = resolve(import.meta.dirname, "../../..");

test("files begin by how long they took in the last run, otherwise by the table, whatever project they are of", async () => {
  const lastRun: Readonly<Record<string, number>> = {
    "test/architecture.test.ts": 900_000,
    "test/faults/engine.test.ts": 1,
    "test/unit/words.test.ts": 0,
  };
  const cache = { getTestSpecificationResult: (file: { path: string }) => resultOf(lastRun[file.path]) };
  const files = [
    ["test/unit/words.test.ts", "one"],
    ["test/architecture.test.ts", "one"],
    ["test/faults/engine.test.ts", "one"],
    ["test/docker/redteam.test.ts", "two"],
    ["test/scenarios/a-new-one.test.ts", "two"],
  ] as const;
  const specifications = files.map(([path, name]) => {
    const project = { name, config: { sequence: { groupOrder: 0 }, isolate: false } };
    return { path, moduleId: join(root, path), project };
  });
  const sequencer = new LongestFirst({ cache, config: { root } } as unknown as Vitest);
  // oxlint-disable-next-line unicorn/no-array-sort -- of the sequencer
  const sorted = await sequencer.sort(specifications as unknown as TestSpecification[]);
  expect(sorted.map((file) => (file as unknown as { path: string }).path)).toEqual([
    "test/architecture.test.ts",
    "test/docker/redteam.test.ts",
    "test/scenarios/a-new-one.test.ts",
    "test/faults/engine.test.ts",
    "test/unit/words.test.ts",
  ]);
});

function resultOf(duration: number | undefined): { failed: boolean; duration: number } | undefined {
  return duration === undefined ? undefined : { failed: false, duration };
}
