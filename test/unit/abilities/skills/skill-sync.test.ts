import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { SkillInstaller } from "../../../../src/abilities/skills/install/installer.ts";
import { readSkillLock } from "../../../../src/abilities/skills/install/lock-file.ts";
import { SkillSync } from "../../../../src/abilities/skills/sync/skill-sync.ts";
import { type SkillRepository, skillRepository } from "../../../support/skill-repository.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

type Synced = NewEvent<"skills.synced">["data"];

const dayMs = 24 * 3_600_000;
const start = Date.UTC(2026, 0, 1);

/** A home with skills of a repository, and a host's syncs in it, one after another. */
async function makeRig() {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  const repository = await skillRepository(folder.path);
  await repository.write({ tea: "Boil.", mug: "Wash." });
  const places = {
    bundled: at("bundled"),
    installed: at("skills"),
    lock: at("skills.lock"),
    groups: at("groups"),
    allowed: at("allowed"),
  };
  const variables = { ...process.env, PATH: repository.path };
  const installer = new SkillInstaller({ places, now: () => start, variables });
  const told: Synced[] = [];
  const time = { now: start };
  const stateFile = at("skill-sync.json");
  const open = (options: Partial<ConstructorParameters<typeof SkillSync>[0]> = {}): SkillSync =>
    new SkillSync({
      lock: places.lock,
      stateFile,
      isOn: () => true,
      compare: (installed, signal) => installer.compare(installed, signal),
      isOnRecord: async (run) => told.some((data) => data.run === run),
      publish: async ({ data }) => void told.push(data),
      clock: { now: () => time.now },
      logger: pino({ level: "silent" }),
      random: () => 0.5,
      ...options,
    });
  return {
    at,
    repository,
    places,
    installer,
    told,
    time,
    stateFile,
    open,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function install({ installer, repository }: { installer: SkillInstaller; repository: SkillRepository }) {
  await installer.install(await installer.plan(repository.address));
  return repository.clones();
}

test("sources are asked once a week, restarts or not; what is new is told once, and nothing is installed", async () => {
  await using rig = await makeRig();
  const { repository, told, time, open, places } = rig;
  const clones = await install(rig);
  const installed = await readSkillLock(places.lock);
  const lookAt = async (days: number): Promise<number> => {
    time.now = start + days * dayMs;
    await using sync = open();
    await sync.changed();
    return (await repository.clones()) - clones;
  };

  expect([await lookAt(0), await lookAt(0.4)]).toEqual([0, 0]);
  expect([await lookAt(0.6), await lookAt(7.5)]).toEqual([1, 1]);
  expect(told).toMatchObject([{ asked: 2, outdated: [], news: [], failed: [] }]);
  await repository.write({ tea: "Boil it." });
  expect(await lookAt(7.7)).toBe(2);
  expect(await lookAt(14.8)).toBe(3);
  await repository.write({ tea: "Boil it well.", mug: "Wash it." });
  expect(await lookAt(22)).toBe(4);

  expect(told.map(({ news, outdated }) => [news, outdated.map(({ name }) => name)])).toEqual([
    [[], []],
    [["tea"], ["tea"]],
    [[], ["tea"]],
    [
      ["mug", "tea"],
      ["mug", "tea"],
    ],
  ]);
  expect(await readSkillLock(places.lock)).toEqual(installed);
});

test("what is outdated is so until that version is installed or the skill is gone", async () => {
  await using rig = await makeRig();
  const { repository, time, open, installer } = rig;
  await install(rig);
  await using sync = open();
  await sync.changed();
  const before = await sync.outdated();
  await repository.write({ tea: "Boil it.", mug: "Wash it." });
  time.now += dayMs;
  await sync.changed();
  const found = await sync.outdated();
  await installer.remove("mug");
  const left = await sync.outdated();
  await installer.install(await installer.plan(repository.address, "tea"));

  expect([before, found, left, await sync.outdated()]).toEqual([[], ["mug", "tea"], ["tea"], []]);
});

test("a host that is killed between noting and telling tells it after its next start; one killed right after does not", async () => {
  await using rig = await makeRig();
  const { repository, told, time, open } = rig;
  await install(rig);
  {
    await using sync = open();
    await sync.changed();
  }
  await repository.write({ tea: "Boil it." });
  time.now += dayMs;
  const dying = { publish: () => Promise.reject(new Error("killed")) };
  {
    await using sync = open(dying);
    await sync.changed();
  }
  expect(told).toEqual([]);
  const noted = await readFile(rig.stateFile, "utf8");
  const restart = async (): Promise<void> => {
    await using sync = open();
    await sync.changed();
  };
  await restart();
  // As if it had been killed before it noted that it has told.
  await writeFile(rig.stateFile, noted);
  await restart();
  await restart();

  expect(told).toMatchObject([{ news: ["tea"] }]);
});

test("nothing is asked or written while it is off, and where no skill has a source that can change but for those that are subscribed", async () => {
  await using rig = await makeRig();
  const { repository, time, open, installer, at, stateFile } = rig;
  await mkdir(at("local/pot"), { recursive: true });
  await writeFile(at("local/pot/SKILL.md"), "---\nname: pot\ndescription: A pot.\n---\nFill.\n");
  const local = await installer.plan(at("local/pot"));
  await installer.install(local);
  const clones = await repository.clones();
  {
    await using sync = open();
    await sync.changed();
    expect(existsSync(stateFile)).toBe(false);
    await installer.install(local, true);
    await sync.changed();
    expect(existsSync(stateFile)).toBe(true);
  }
  await rm(stateFile);
  await install(rig);
  await installer.install(await installer.plan(repository.address), false);
  await installer.remove("pot");
  const after = await repository.clones();
  {
    await using sync = open();
    await sync.changed();
  }
  await using off = open({ isOn: () => false });
  time.now += 30 * dayMs;
  await off.changed();

  expect(existsSync(stateFile)).toBe(false);
  expect([after - clones, (await repository.clones()) - after]).toEqual([2, 0]);
});

test("a source that cannot be asked is told as such, and what was told about it before is no news afterwards", async () => {
  await using rig = await makeRig();
  const { repository, told, time, open, at } = rig;
  await install(rig);
  await using sync = open();
  await sync.changed();
  await repository.write({ tea: "Boil it." });
  const week = async (): Promise<void> => {
    time.now += 9 * dayMs;
    await sync.changed();
  };
  await week();
  await rename(at("repository"), at("moved"));
  await week();
  await rename(at("moved"), at("repository"));
  await week();

  expect(told.map(({ news, failed }) => [news, failed.map(({ name }) => name)])).toEqual([
    [["tea"], []],
    [[], ["mug", "tea"]],
    [[], []],
  ]);
  expect(told[1]?.failed[0]?.reason).toContain("git could not fetch it");
});
