import { pino } from "pino";
import { expect, test } from "vitest";

import type { FolderUsage } from "../../../../src/domain/turns/limit.ts";
import { WorkspaceWatch } from "../../../../src/sandbox/workspace/workspace-watch.ts";

const mebibyte = 1024 * 1024;

/** A machine with one hot container, whose numbers a test steers. */
function machine(numbers: { free: number; freeEntries?: number; usage: FolderUsage | undefined }) {
  const ended: string[] = [];
  const measured: string[] = [];
  const watch = new WorkspaceWatch({
    limitBytes: 100 * mebibyte,
    measure: async (group) => {
      measured.push(group);
      return numbers.usage;
    },
    free: async () => ({ bytes: numbers.free, entries: numbers.freeEntries ?? 1e6 }),
    hot: () => (ended.length === 0 ? [{ group: "family", session: "s1", busy: false }] : []),
    exceeded: async ({ session }, hit) => void ended.push(`${session} ${hit.limit}`),
    logger: pino({ level: "silent" }),
    intervalMs: 5,
  });
  return { watch, ended, measured, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
}

const little = { bytes: mebibyte, entries: 10 };
const plenty = 50_000 * mebibyte;

test("a group within its quota is admitted, and measured again when its turn is over", async () => {
  await using rig = machine({ free: plenty, usage: little });
  const { watch, ended, measured } = rig;
  await expect.poll(() => measured.length).toBe(1);

  await watch.admit("family");
  const before = measured.length;
  await watch.admit("family");
  expect(measured).toHaveLength(before);
  watch.released("family");

  await expect.poll(() => measured.length).toBeGreaterThan(before);
  expect(ended).toEqual([]);
});

test("an idle container whose folder grows is ended as soon as free space shrinks", async () => {
  const numbers = { free: plenty, usage: little };
  await using rig = machine(numbers);
  const { watch, ended, measured } = rig;
  await expect.poll(() => measured.length).toBe(1);

  numbers.usage = { bytes: 200 * mebibyte, entries: 10 };
  numbers.free -= 200 * mebibyte;

  await expect.poll(() => ended).toEqual(["s1 workspace"]);
  await expect(watch.admit("family")).rejects.toMatchObject({ code: "too_large" });
});

test("a folder that cannot be measured in time counts as too full, not as empty", async () => {
  await using rig = machine({ free: plenty, usage: undefined });
  const { watch } = rig;

  await expect(watch.admit("family")).rejects.toThrow("too many files to be counted");
});

test("a turn that has taken nothing from the disk makes nobody measure its folder at once", async () => {
  await using rig = machine({ free: plenty, usage: little });
  const { watch, measured } = rig;
  await watch.admit("family");
  await expect.poll(() => measured.length).toBe(1);

  watch.released("family");
  await watch.admit("family");

  expect(measured).toHaveLength(1);
});

test("many small files are noticed by the entries that are gone", async () => {
  const numbers = { free: plenty, freeEntries: 1_000_000, usage: little };
  await using rig = machine(numbers);
  await expect.poll(() => rig.measured.length).toBe(1);

  numbers.usage = { bytes: mebibyte, entries: 50_000 };
  numbers.freeEntries -= 50_000;

  await expect.poll(() => rig.ended).toEqual(["s1 workspace-files"]);
});
