import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { SkillInstaller } from "../../src/abilities/skills/install/installer.ts";
import { findInstalled, type SkillFolders, skillFolders } from "../../src/abilities/skills/places.ts";
import { crabpot, type CommandResult } from "../support/crabpot.ts";
import { dieAtFileStep, type FileStep } from "../support/dying-at-file-steps.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const checkout = join(import.meta.dirname, "..", "..");
/** More steps than any of the commands has. */
const mostSteps = 200;

async function writeSkill(folder: string, name: string, body: string): Promise<string> {
  await mkdir(join(folder, "scripts"), { recursive: true });
  await writeFile(join(folder, "SKILL.md"), `---\nname: ${name}\ndescription: Makes ${name}.\n---\n${body}\n`);
  await writeFile(join(folder, "scripts/make.sh"), `echo ${body}\n`, { mode: 0o755 });
  return folder;
}

function placesOf(home: string): SkillFolders {
  const paths = {
    skills: join(home, "skills"),
    skillLock: join(home, "skills.lock"),
    groups: join(home, "groups"),
    groupSkills: join(home, "group-skills"),
  };
  return skillFolders(paths, checkout);
}

/** `tea: OLD`, with the state where it is not ok. */
async function skillsOf(home: string): Promise<string> {
  const found = await findInstalled(placesOf(home));
  const said = found.map(({ name, state, tree }) => {
    const texts = tree?.files.map(({ bytes }) => bytes.toString().trim().split(/\s/).at(-1)) ?? [];
    return `${name}: ${state === "ok" ? [...new Set(texts)].join(" and ") : state}`;
  });
  return said.join(", ");
}

/** Everything that lies where the commands write. */
async function leftIn(home: string): Promise<string[]> {
  const names = await readdir(home);
  return [
    ...names.filter((name) => name.startsWith("skills.lock") || name.startsWith(".skills")),
    ...(await readdir(join(home, "skills"))),
  ].toSorted();
}

/** Runs the command on a copy of the home and kills it before this step; false when it has no such step. */
async function killedAt(template: string, home: string, step: FileStep, args: readonly string[]): Promise<boolean> {
  await cp(template, home, { recursive: true });
  let end: CommandResult | undefined;
  const { isDead } = await dieAtFileStep(join(home, "skills"), step, async () => {
    end = await crabpot({ home }, ...args);
  });
  const { code, stderr } = isDead || !end ? { code: isDead ? 0 : null, stderr: "" } : end;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return isDead;
}

interface Case {
  readonly command: string;
  readonly args: (sources: string) => string[];
  readonly before: string;
  readonly after: string;
}

const cases: readonly Case[] = [
  { command: "install", args: (at) => ["install", join(at, "many")], before: "", after: "mug: NEW, tea: NEW" },
  { command: "install over", args: (at) => ["install", join(at, "tea")], before: "tea: OLD", after: "tea: NEW" },
  { command: "update", args: () => ["update"], before: "tea: OLD", after: "tea: NEW" },
  { command: "remove", args: () => ["remove", "tea"], before: "tea: OLD", after: "" },
];

test.each(cases)(
  "$command: killed before each of its steps, the skills are as before or as after, and the next command clears up",
  async ({ args, before, after }) => {
    await using folder = await temporaryFolder();
    const at = (name: string): string => join(folder.path, name);
    const template = at("template");
    await mkdir(template, { mode: 0o700 });
    const sources = at("sources");
    if (before !== "") {
      const source = await writeSkill(join(sources, "tea"), "tea", "OLD");
      await crabpot({ home: template }, "skills", "install", source, "--yes");
    }
    for (const path of ["tea", "many/tea", "many/mug"])
      await writeSkill(join(sources, path), path.split("/").at(-1) ?? "", "NEW");
    const pot = await writeSkill(join(sources, "pot"), "pot", "POT");
    expect(await skillsOf(template)).toBe(before);

    const seen = new Set<string>();
    const attempt = async (step: FileStep): Promise<boolean> => {
      const home = at(`home-${step.number}${step.isHalf ? "-half" : ""}`);
      const isKilled = await killedAt(template, home, step, ["skills", ...args(sources), "--yes"]);
      const found = await skillsOf(home);
      expect([before, after], `killed before step ${step.number}`).toContain(found);
      seen.add(found);
      const installer = new SkillInstaller({ places: placesOf(home), now: () => 0, variables: process.env });
      await installer.install(await installer.plan(pot));
      const names = found === "" ? [] : found.split(", ").map((said) => said.replace(/:.*/, ""));
      expect(await leftIn(home), `killed before step ${step.number}`).toEqual(
        [...names, "pot", "skills.lock"].toSorted(),
      );
      expect(await skillsOf(home)).toBe([...found.split(", ").filter(Boolean), "pot: POT"].toSorted().join(", "));
      return isKilled;
    };
    for (const isHalf of [false, true]) {
      let number = 1;
      while (await attempt({ number, isHalf })) {
        number += 1;
        expect(number).toBeLessThan(mostSteps);
      }
    }

    expect([...seen].toSorted()).toEqual([before, after].toSorted());
  },
);
