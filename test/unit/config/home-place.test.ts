import { execFile } from "node:child_process";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { prepareHome } from "../../../src/config/home/home.ts";
import { settleHome } from "../../../src/config/home/home-place.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Starts with a home, like the host. */
async function start(root: string) {
  const { home, was, keep } = await settleHome(await prepareHome(root));
  await keep();
  return { instance: home.instance, was };
}

const copy = (from: string, to: string) => promisify(execFile)("cp", ["-a", from, to]);

test("a copied home gets its own id and keeps it, and the original keeps the one that it has", async () => {
  await using folder = await temporaryFolder();
  const [original, other] = [join(folder.path, "one"), join(folder.path, "two")];
  const first = await start(original);
  await copy(original, other);

  const copied = await start(other);
  const again = await start(other);
  const later = await start(original);

  expect(first.was).toBeUndefined();
  expect(copied.instance).not.toBe(first.instance);
  expect(copied.was).toMatchObject({ path: original, instance: first.instance });
  expect(again).toEqual({ instance: copied.instance, was: undefined });
  expect(later).toEqual({ instance: first.instance, was: undefined });
});

test("an id that was not kept is not used: the next start takes another one", async () => {
  await using folder = await temporaryFolder();
  const [original, other] = [join(folder.path, "one"), join(folder.path, "two")];
  const first = await start(original);
  await copy(original, other);

  await settleHome(await prepareHome(other));
  const next = await settleHome(await prepareHome(other));

  expect(next.was).toMatchObject({ path: original });
  expect(next.home.instance).not.toBe(first.instance);
  expect(await readFile(join(other, "instance"), "utf8")).toBe(`${first.instance}\n`);
});

test("a renamed home keeps its id, also when a copy has taken its old place, which gets another one", async () => {
  await using folder = await temporaryFolder();
  const [original, renamed] = [join(folder.path, "one"), join(folder.path, "two")];
  const first = await start(original);
  await rename(original, renamed);
  await copy(renamed, original);

  const copied = await start(original);
  const moved = await start(renamed);

  expect(copied.instance).not.toBe(first.instance);
  expect(moved).toMatchObject({ instance: first.instance, was: { path: original } });
  expect(await start(renamed)).toEqual({ instance: first.instance, was: undefined });
});

test("a home that is taken to another machine gets another id", async () => {
  await using folder = await temporaryFolder();
  const first = await start(folder.path);
  const file = join(folder.path, "place.json");
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), machine: "elsewhere" }));

  const taken = await start(folder.path);

  expect(taken.instance).not.toBe(first.instance);
  expect(taken.was).toMatchObject({ path: folder.path, instance: first.instance });
});

test("a place that cannot be read is not taken for the right one", async () => {
  await using folder = await temporaryFolder();
  await start(folder.path);
  await writeFile(join(folder.path, "place.json"), "{");

  await expect(start(folder.path)).rejects.toMatchObject({
    code: "setup_required",
    fix: expect.stringMatching(/^Remove .*place\.json/),
  });
});
