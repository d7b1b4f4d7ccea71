import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";

import { isGroupName } from "../../domain/chats/group.ts";
import type { SkillTool } from "../../domain/rights/skill-tool.ts";
import { isChosen, type SkillChoice, wantsNone } from "../../domain/sandbox/skill.ts";
import { AppError } from "../../lib/app-error.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { type FetchOptions, fetchSource, runToFetch } from "./install/fetch-source.ts";
import { type ComparedSkill, type InstallPlan, SkillInstaller } from "./install/installer.ts";
import { type Finding, scanSkill, wantsOf } from "./install/scan-skill.ts";
import { sourceOf } from "./install/source.ts";
import { listAll, listForGroup, type ListedSkill } from "./list-skills.ts";
import { readSkillLock } from "./install/lock-file.ts";
import { findFor, type FoundSkill, isUsable, type SkillFolders, skillFolders } from "./places.ts";
import { readSkillMapping } from "./skill-mapping.ts";
import type { SkillServiceNeeds } from "./skill-needs.ts";
import { readTree } from "./tree/read-tree.ts";
import { writeTree } from "./tree/skill-copies.ts";
import type { SkillTree } from "./tree/skill-tree.ts";

/** An installation as it is planned, and each of its skills. */
export type SkillPlan = InstallPlan;
export type SkillInPlan = InstallPlan["skills"][number];
export type SkillInList = ListedSkill;

type SkillHomeOptions = Pick<SkillServiceNeeds, "paths" | "checkout" | "variables">;

/** The skills of a home, which are files: a host that runs takes changes over between turns. */
export class SkillHome {
  readonly #paths: SkillHomeOptions["paths"];
  readonly #places: SkillFolders;
  readonly #installer: SkillInstaller;

  constructor({ paths, checkout, variables }: SkillHomeOptions) {
    this.#paths = paths;
    this.#places = skillFolders(paths, checkout);
    this.#installer = new SkillInstaller({ places: this.#places, now: Date.now, variables });
  }

  /** Lists shared skills, and those of each group that has a folder. */
  list(): Promise<readonly ListedSkill[]> {
    const { groups } = this.#paths;
    const names = existsSync(groups) ? readdirSync(groups).filter(isGroupName).toSorted() : [];
    return listAll(this.#places, names);
  }

  /** Lists the skills that a group could have, with which of them it has. */
  listFor(group: string, wanted: Parameters<typeof listForGroup>[2]): Promise<readonly ListedSkill[]> {
    return listForGroup(this.#places, group, wanted);
  }

  /** Finds a skill among those that a group could have, or that all could. Throws `not_found`. */
  async find(name: string, group: string | undefined): Promise<FoundSkill & { readonly findings: readonly Finding[] }> {
    const all = await findFor(this.#places, group);
    const found = all.find((one) => one.name === name && one.state !== "hidden");
    if (found) return { ...found, findings: found.tree ? scanSkill(found.tree) : [] };
    const near = nearest(
      name,
      all.map((one) => one.name),
    );
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    throw new AppError("not_found", `There is no skill ${JSON.stringify(name)}.${hint}`, {
      fix: "crabpot skills list",
    });
  }

  /** Tools of the skills that a group has, or that groups have by the settings for everybody. */
  async toolsOf(group: string | undefined, choice: SkillChoice): Promise<readonly SkillTool[]> {
    if (wantsNone(choice)) return [];
    const found = await findFor(this.#places, group);
    return found.filter((one) => isUsable(one) && isChosen(choice, one)).flatMap(({ tools }) => tools);
  }

  /** Plans an installation; `only`: a single skill of several. Throws why it is impossible. */
  plan(source: string, only?: string): Promise<InstallPlan> {
    return this.#installer.plan(source, only);
  }

  /** Installs as planned; `subscribed`: the host looks for new versions. */
  install(plan: Pick<InstallPlan, "from" | "skills">, subscribed?: boolean): Promise<void> {
    return this.#installer.install(plan, subscribed);
  }

  /** Throws `bad_input` for a skill that was neither installed nor written by a group's agent. */
  requireRemovable({ name, source, byAgent, folder }: FoundSkill): void {
    if (source === "bundled" || (source === "group" && !byAgent))
      throw new AppError("bad_input", `The skill "${name}" was not installed: it is in ${folder}.`, {
        fix: source === "bundled" ? "Remove it from `skills` in config.yaml." : `Remove ${folder}.`,
      });
  }

  /** Removes an installed skill, or one that a group's agent wrote. */
  async remove({ name, byAgent, folder }: FoundSkill): Promise<void> {
    if (byAgent) await rm(folder);
    else await this.#installer.remove(name);
  }

  /** Compares installed skills, or one of them, with their sources. Throws `not_found`. */
  async compare(only?: string): Promise<readonly ComparedSkill[]> {
    const { skills } = await readSkillLock(this.#places.lock);
    const installed = Object.entries(skills).map(([name, { from, sha256 }]) => ({ name, from, sha256 }));
    const wanted = installed.filter(({ name }) => only === undefined || name === only);
    if (only !== undefined && wanted.length === 0)
      throw new AppError("not_found", `There is no installed skill "${only}".`, { fix: "crabpot skills list" });
    return this.#installer.compare(wanted);
  }

  /** Throws `config_invalid` when `skill_mapping.yaml` cannot be used. */
  async checkMapping(): Promise<void> {
    await readSkillMapping(this.#paths.skillMapping);
  }
}

/** Steps by which packages of others are installed as well: fetching, reading, looking through and writing. */
export function installSteps(variables: FetchOptions["variables"]) {
  return {
    fetch: async (wanted: string, scratch: string) => fetchSource(sourceOf(wanted), { scratch, variables }),
    readTree,
    writeTree,
    scan: scanSkill,
    hostsIn: (tree: SkillTree): readonly string[] => wantsOf([], tree).hosts,
    npm: async (args: readonly string[], cwd: string): Promise<void> =>
      void (await runToFetch("npm", args, { cwd, variables })),
  };
}
