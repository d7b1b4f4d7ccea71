import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { crabpot, jsonLines, newHome, startCrabpot } from "../support/crabpot.ts";
import type { CommandOptions } from "../support/crabpot.ts";
import { engineWithAgentImage } from "../support/engine.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Summary {
  readonly kind: string;
  readonly cases: number;
  readonly contained: number;
  readonly failed: number;
  readonly skipped: number;
  readonly residualRisks: readonly unknown[];
}

test("every attack of the red-team suite is contained and on record", { timeout: 1_800_000 }, async () => {
  await using place = await newHome();

  const { code, stdout } = await crabpot(place, "redteam", "--json");

  const lines = jsonLines(stdout);
  expect(lines.filter((line) => line["verdict"] === "FAILED")).toEqual([]);
  const summary = lines.at(-1) as unknown as Summary;
  expect(summary).toMatchObject({ kind: "summary", failed: 0 });
  expect(summary.contained + summary.skipped).toBe(summary.cases);
  expect(summary.contained).toBeGreaterThan(60);
  expect(summary.residualRisks.length).toBeGreaterThan(0);
  expect(code).toBe(0);
});

test("an attack or family that does not exist is named, and nothing is played", async () => {
  await using place = await newHome();

  const { code, stderr } = await crabpot(place, "redteam", "--only", "C1,Q9");

  expect(code).not.toBe(0);
  expect(stderr).toContain('There is no attack "q9"');
});

const { engine } = await engineWithAgentImage();
afterAll(() => engine[Symbol.asyncDispose]());

/** What a run of the suite has made so far: the folders in its temporary folder, its containers, its host's home. */
async function traces(folder: string): Promise<{ folders: string[]; containers: string[]; instance: string }> {
  const folders = await readdir(folder);
  // Only the host's folder has one: the other is the machine that the attacks see as the internet.
  const read = (name: string) => readFile(join(folder, name, "crab/instance"), "utf8").catch(() => "");
  const instance = (await Promise.all(folders.map(read))).join("").trim();
  const found = instance === "" ? [] : await engine.list({ "crabpot.instance": instance });
  return { folders, containers: found.map(({ name }) => name), instance };
}

/** Begins the suite and waits until its containers are there. */
async function begin(place: CommandOptions, folder: string): Promise<ReturnType<typeof startCrabpot>> {
  const run = startCrabpot(place, "redteam", "--only", "F9,C");
  await expect.poll(async () => (await traces(folder)).containers.length, { timeout: 100_000 }).toBe(2);
  return run;
}

test("a suite that is interrupted ends what it had started and leaves nothing", { timeout: 300_000 }, async () => {
  await using home = await newHome();
  await using folder = await temporaryFolder();
  const run = await begin({ ...home, variables: { TMPDIR: folder.path } }, folder.path);
  const { instance } = await traces(folder.path);

  const ended = once(run, "exit");
  run.kill("SIGINT");
  const [code] = (await ended) as [number | null];

  expect(code).toBe(1);
  expect(await readdir(folder.path)).toEqual([]);
  expect(await engine.list({ "crabpot.instance": instance })).toEqual([]);
});

test("what a suite that was killed has left is ended and removed by the next one", { timeout: 300_000 }, async () => {
  await using home = await newHome();
  await using folder = await temporaryFolder();
  const place = { ...home, variables: { TMPDIR: folder.path } };
  const run = await begin(place, folder.path);
  const { instance } = await traces(folder.path);
  const ended = once(run, "exit");
  run.kill("SIGKILL");
  await ended;
  expect((await traces(folder.path)).containers).toHaveLength(2);

  const { code } = await crabpot(place, "redteam", "--only", "C6");

  expect(code).toBe(0);
  expect(await readdir(folder.path)).toEqual([]);
  expect(await engine.list({ "crabpot.instance": instance })).toEqual([]);
});
