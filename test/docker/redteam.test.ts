import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { crabpot, jsonLines, newHome, startCrabpot } from "../support/crabpot.ts";
import type { CommandOptions } from "../support/crabpot.ts";
import { engineWithAgentImage } from "../support/engine.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";

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

/** Names of the containers of these hosts. */
async function containersOf(instances: readonly string[]): Promise<string[]> {
  const found = await Promise.all(instances.map((instance) => engine.list({ "crabpot.instance": instance })));
  return found.flat().map(({ name }) => name);
}

/** The hosts that a run of the suite has started so far, by the homes in its temporary folder. */
async function hostsIn(folder: string): Promise<string[]> {
  const read = (name: string) => readFile(join(folder, name, "crab/instance"), "utf8").catch(() => "");
  // Each stage has another folder without one: the machine that the attacks see as the internet.
  return (await Promise.all((await readdir(folder)).map(read))).map((text) => text.trim()).filter(Boolean);
}

/** Begins the suite and waits until both of its lanes have their containers. Resolves with their hosts. */
async function begin(
  place: CommandOptions,
  folder: string,
): Promise<{ readonly run: ReturnType<typeof startCrabpot>; readonly hosts: readonly string[] }> {
  const run = startCrabpot(place, "redteam", "--only", "F9,C,I,J");
  const counts = async (): Promise<number[]> =>
    Promise.all((await hostsIn(folder)).map(async (host) => (await containersOf([host])).length));
  await expect.poll(async () => (await counts()).filter((count) => count >= 2).length, { timeout: 170_000 }).toBe(2);
  return { run, hosts: await hostsIn(folder) };
}

test("a suite that is interrupted ends what it had started and leaves nothing", { timeout: 600_000 }, async () => {
  await using home = await newHome();
  await using folder = await temporaryFolder(onDisk);
  const { run, hosts } = await begin({ ...home, variables: { TMPDIR: folder.path } }, folder.path);

  const ended = once(run, "exit");
  run.kill("SIGINT");
  const [code] = (await ended) as [number | null];

  expect(code).toBe(1);
  expect(await readdir(folder.path)).toEqual([]);
  expect(await containersOf(hosts)).toEqual([]);
});

test("what a suite that was killed has left is ended and removed by the next one", { timeout: 600_000 }, async () => {
  await using home = await newHome();
  await using folder = await temporaryFolder(onDisk);
  const place = { ...home, variables: { TMPDIR: folder.path } };
  const { run, hosts } = await begin(place, folder.path);
  const ended = once(run, "exit");
  run.kill("SIGKILL");
  await ended;
  expect((await containersOf(hosts)).length).toBeGreaterThanOrEqual(4);

  const { code } = await crabpot(place, "redteam", "--only", "C6");

  expect(code).toBe(0);
  expect(await readdir(folder.path)).toEqual([]);
  expect(await containersOf(hosts)).toEqual([]);
});
