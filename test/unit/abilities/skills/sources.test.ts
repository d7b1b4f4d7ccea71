import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";
import { skillRepository } from "../../../support/skill-repository.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("a source of several skills is asked once, for what is new and for what is installed again", async () => {
  await using place = await newHome({});
  await using folder = await temporaryFolder();
  const repository = await skillRepository(folder.path);
  const at = { ...place, variables: { PATH: repository.path } };
  await repository.write({ tea: "Boil.", mug: "Wash.", pot: "Fill." });
  await crabpot(at, "skills", "install", repository.address, "--yes");
  await repository.write({ tea: "Boil it.", mug: "Wash it." });
  const before = await repository.clones();

  const synced = await crabpot(at, "skills", "sync", "--json");
  const afterSync = await repository.clones();
  const updated = await crabpot(at, "skills", "update", "--yes", "--json");

  expect(jsonLines(synced.stdout).map(({ name, state }) => `${String(name)} ${String(state)}`)).toEqual([
    "mug outdated",
    "pot current",
    "tea outdated",
  ]);
  expect(jsonLines(updated.stdout).map(({ name, state }) => `${String(name)} ${String(state)}`)).toEqual([
    "mug installed",
    "tea installed",
  ]);
  expect([afterSync - before, (await repository.clones()) - afterSync]).toEqual([1, 1]);
  expect((await crabpot(at, "skills", "update")).stdout).toContain("All skills are up to date.");
});

test("a source that is gone fails for each of its skills, and the others are compared all the same", async () => {
  await using place = await newHome({});
  await using folder = await temporaryFolder();
  const repository = await skillRepository(join(folder.path, "one"));
  const other = await skillRepository(join(folder.path, "two"));
  await repository.write({ tea: "Boil.", mug: "Wash." });
  await other.write({ pot: "Fill." });
  for (const { address } of [repository, other]) await crabpot(place, "skills", "install", address, "--yes");
  await rm(join(folder.path, "one"), { recursive: true });

  const synced = await crabpot(place, "skills", "sync", "--json");
  const updated = await crabpot(place, "skills", "update", "tea", "--yes");

  expect(synced.code).toBe(1);
  const states = jsonLines(synced.stdout).map(({ name, state }) => `${String(name)} ${String(state)}`);
  expect(states).toEqual(["mug failed", "tea failed", "pot current"]);
  expect([updated.code, updated.stderr]).toEqual([1, expect.stringContaining("git could not fetch it")]);
});

test("of several skills those that cannot be used are told and left out, wherever they lie; named, they are refused", async () => {
  await using place = await newHome({});
  await using folder = await temporaryFolder();
  const write = async (path: string, name: string): Promise<void> => {
    await mkdir(join(folder.path, path), { recursive: true });
    await writeFile(
      join(folder.path, path, "SKILL.md"),
      `---\nname: ${name}\ndescription: x\nversion: 1\n---\nBoil.\n`,
    );
  };
  await write("plugins/hot/skills/tea", "tea");
  await write("plugins/cold/skills/mug", "Mug");
  await write("plugins/cold/skills/old", "tea");

  const done = await crabpot(place, "skills", "install", folder.path, "--yes", "--json");
  const shown = await crabpot(place, "skills", "install", folder.path);
  const named = await crabpot(place, "skills", "install", folder.path, "--skill", "mug", "--yes");

  expect(jsonLines(done.stdout)).toMatchObject([
    { name: "tea", state: "installed", unknownKeys: ["version"] },
    { name: "mug", state: "refused", reason: expect.stringContaining('not "M"') },
    { name: "tea", state: "refused", reason: "plugins/cold/skills/old has the same name" },
  ]);
  expect(shown.stdout).toContain("has keys without meaning here: version");
  expect(shown.stdout).toContain("mug is skipped, because it is not usable: SKILL.md: name:");
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("The skill mug of")]);
});

test.each(["/nowhere/tea", "./tea.tar.gz", "npm:a b", "file:///nowhere/tea"])(
  "%s cannot be installed: that ends with 1, as every refusal does",
  async (source) => {
    await using place = await newHome({});

    const { code, stderr } = await crabpot(place, "skills", "install", source, "--yes");

    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be installed|could not fetch/)]);
  },
);
