import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { oldestStartFrom, removeOldBuilds } from "../../../scripts/steps/old-builds.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Builds into the folder, one after the other, a second apart, and says what lies in it after each. */
async function buildEach(
  folder: string,
  builds: readonly (readonly string[])[],
  oldestStart?: number,
): Promise<string[][]> {
  const found: string[][] = [];
  for (const [index, built] of builds.entries()) {
    for (const name of built) await writeFile(join(folder, name), "");
    await removeOldBuilds({ folder, built, now: 1_000_000 + index * 1_000, oldestStart });
    found.push((await readdir(folder)).filter((name) => name !== "builds.json").toSorted());
  }
  return found;
}

const five = ["1", "2", "3", "4", "5"].map((part) => ["main.mjs", part]);

test("of builds that nobody runs the last three stay; the same one again is no other one", async () => {
  await using folder = await temporaryFolder();

  const found = await buildEach(folder.path, [...five, ["5", "main.mjs"]]);

  expect(found.slice(2)).toEqual([
    ["1", "2", "3", "main.mjs"],
    ["2", "3", "4", "main.mjs"],
    ["3", "4", "5", "main.mjs"],
    ["3", "4", "5", "main.mjs"],
  ]);
});

test("a build that a running program may be of stays, with all later ones, and goes when the program is gone", async () => {
  await using folder = await temporaryFolder();

  // Started between the first build and the second one.
  const found = await buildEach(folder.path, five, 1_000_500);
  const [after] = await buildEach(folder.path, [["main.mjs", "6"]]);

  expect(found.at(-1)).toEqual(["1", "2", "3", "4", "5", "main.mjs"]);
  expect(after).toEqual(["4", "5", "6", "main.mjs"]);
});

test("what no list names goes when it is a day old", async () => {
  await using folder = await temporaryFolder();
  for (const name of ["old.mjs", "new.mjs"]) await writeFile(join(folder.path, name), "");
  await utimes(join(folder.path, "old.mjs"), new Date(), new Date(Date.now() - 25 * 60 * 60 * 1_000));

  await removeOldBuilds({ folder: folder.path, built: [], now: Date.now(), oldestStart: undefined });

  expect(await readdir(folder.path)).toEqual(["builds.json", "new.mjs"]);
});

test("it is known since when a program runs from a folder", async () => {
  await using folder = await temporaryFolder();
  const program = join(folder.path, "waits.mjs");
  await writeFile(program, "process.stdin.resume(); console.log('up');");
  const before = await oldestStartFrom(folder.path);
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");

  const during = await oldestStartFrom(folder.path);
  child.stdin.end();
  await ended;

  expect(before).toBeUndefined();
  expect(Math.abs((during ?? 0) - Date.now())).toBeLessThan(60_000);
});
