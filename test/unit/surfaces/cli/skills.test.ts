import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { crabpot, newHome, withoutEngine } from "../../../support/crabpot.ts";

test("the doctor names skills of the configuration that there are not, and only those", async () => {
  await using place = await newHome({
    "config.yaml": "skills: [nosuch, git]\ngroups: { main: { channel: terminal, chat: main, skills: [gti, git] } }\n",
  });

  const { stdout } = await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json");
  const found = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { check: string; detail: string })
    .filter(({ check }) => check === "skills");

  expect(found.map(({ detail }) => detail)).toEqual([
    'skills: there is no skill "nosuch".',
    'groups.main.skills: there is no skill "gti".',
  ]);
});

test("a skill that is not removed for want of --yes is never said to be removed", async () => {
  await using place = await newHome({});
  const folder = join(place.home, "../source/shout");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "SKILL.md"), "---\nname: shout\ndescription: Shouts.\n---\nShout.\n");
  await crabpot(place, "skills", "install", folder, "--yes");

  const asked = await crabpot(place, "skills", "remove", "shout");
  const done = await crabpot(place, "skills", "remove", "shout", "--yes");

  expect(asked.stdout + asked.stderr).toContain("will be removed");
  expect(asked.stdout + asked.stderr).not.toMatch(/is removed|Removed/);
  expect(done.stdout).toContain("Removed: shout.");
});
