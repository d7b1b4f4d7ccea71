import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { mostSkills, type SkillFacts, skillFile } from "../../domain/skill.ts";
import { AppError } from "../../lib/app-error.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { describeSkillFault } from "../format/parse-skill.ts";
import { readSkillLock, type SkillLock, withSkillLock, writeSkillLock } from "../lock-file.ts";
import { checkTree, findBundled, findInstalled, incomingFolder, type SkillPlaces } from "../places.ts";
import { readTree } from "../tree/read-tree.ts";
import { writeTree } from "../tree/skill-copies.ts";
import { hashOfTree, type SkillTree, type TreeReading } from "../tree/skill-tree.ts";
import { type FetchedSource, type FetchOptions, fetchSource, sourceOf } from "./fetch-source.ts";
import { type Finding, scanSkill, type Wants, wantsOf } from "./scan-skill.ts";

/** A skill of a source, as it would be installed. */
export interface PlannedSkill {
  readonly name: string;
  readonly facts: SkillFacts;
  readonly sha256: string;
  readonly tree: SkillTree;
  /** Among several of one source: in which folder. */
  readonly subfolder: string | undefined;
  readonly wants: Wants;
  readonly findings: readonly Finding[];
  /** What is installed under its name already: the same, or another one. */
  readonly replaces: "nothing" | "same" | "other";
  /** There is one of this name that comes with crabpot, which it would take the place of. */
  readonly hidesBundled: boolean;
}

export interface InstallPlan {
  readonly from: string;
  readonly skills: readonly PlannedSkill[];
}

/** What lies at the top of a repository or a package and is not part of a skill. */
const leaveOut: ReadonlySet<string> = new Set([".git", ".github", ".gitignore", ".gitattributes", "node_modules"]);

/** Installs skills for all groups of a home: looks at all of a source before anything is written, and runs nothing of it. */
export class SkillInstaller {
  readonly #places: SkillPlaces;
  readonly #now: () => number;
  readonly #variables: FetchOptions["variables"];

  constructor(options: {
    readonly places: SkillPlaces;
    readonly now: () => number;
    /** Environment of the programs that fetch. */
    readonly variables: FetchOptions["variables"];
  }) {
    this.#places = options.places;
    this.#now = options.now;
    this.#variables = options.variables;
  }

  /** What installing this would do. Throws why it cannot be installed. `only`: of several skills the one with this name. */
  async plan(wanted: string, only?: string): Promise<InstallPlan> {
    const { installed } = this.#places;
    await mkdir(installed, { recursive: true, mode: 0o700 });
    const scratch = await mkdtemp(join(installed, ".fetched-"));
    try {
      const source = await fetchSource(sourceOf(wanted), { scratch, variables: this.#variables });
      const found = await skillsIn(source);
      const chosen = only === undefined ? found : found.filter(({ facts }) => facts.name === only);
      if (chosen.length === 0) throw noSkill(wanted, only, found);
      return { from: source.from, skills: await Promise.all(chosen.map((skill) => this.#describe(skill))) };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async #describe(skill: FoundInSource): Promise<PlannedSkill> {
    const { facts, tree, subfolder } = skill;
    const sha256 = hashOfTree(tree);
    const before = (await findInstalled(this.#places)).find(({ name }) => name === facts.name);
    const bundled = await findBundled(this.#places);
    return {
      name: facts.name,
      facts,
      sha256,
      tree,
      subfolder,
      wants: wantsOf(facts.allowedTools, tree),
      findings: scanSkill(tree),
      replaces: before === undefined ? "nothing" : before.state === "ok" && before.sha256 === sha256 ? "same" : "other",
      hidesBundled: bundled.some(({ name }) => name === facts.name),
    };
  }

  /** Does what was planned: killed at any point, each skill is the old or the new one. */
  async install({ from, skills }: InstallPlan): Promise<void> {
    await this.#changing(async (before) => {
      const incoming = join(this.#places.installed, incomingFolder);
      for (const { name, tree } of skills) {
        await rm(join(incoming, name), { recursive: true, force: true });
        await mkdir(incoming, { recursive: true, mode: 0o700 });
        await writeTree(join(incoming, name), tree);
      }
      const installedAt = new Date(this.#now()).toISOString();
      const added = skills.map(({ name, sha256, subfolder }) => [
        name,
        { sha256, from, installedAt, ...(subfolder !== undefined && { subfolder }) },
      ]);
      // From here on it is the new one.
      return { ...before, skills: { ...before.skills, ...(Object.fromEntries(added) as SkillLock["skills"]) } };
    });
  }

  /** Throws `not_found` for one that is not installed. */
  async remove(name: string): Promise<void> {
    await this.#changing(async (before) => {
      const isThere = Object.hasOwn(before.skills, name) || existsSync(join(this.#places.installed, name));
      if (!isThere || name.startsWith(".") || name.includes("/")) throw await this.#unknown(name);
      const { [name]: _, ...skills } = before.skills;
      return { ...before, skills };
    });
    await rm(join(this.#places.installed, name), { recursive: true, force: true });
  }

  async #unknown(name: string): Promise<AppError> {
    const names = (await findInstalled(this.#places)).map((skill) => skill.name);
    const near = nearest(name, names);
    const hint = near === undefined ? `Installed: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`;
    return new AppError("not_found", `There is no installed skill "${name}". ${hint}`);
  }

  async #changing(change: (before: SkillLock) => Promise<SkillLock>): Promise<void> {
    const { lock, installed } = this.#places;
    await mkdir(installed, { recursive: true, mode: 0o700 });
    await withSkillLock(lock, async () => {
      await this.#finish();
      await writeSkillLock(lock, await change(await readSkillLock(lock)));
      await this.#finish();
    });
  }

  /** Puts in its place what the lock file says is installed, and removes what is left of anything else. */
  async #finish(): Promise<void> {
    const { lock, installed } = this.#places;
    const incoming = join(installed, incomingFolder);
    const { skills } = await readSkillLock(lock);
    for (const name of existsSync(incoming) ? await readdir(incoming) : []) {
      const reading = await readTree(join(incoming, name)).catch((): undefined => undefined);
      if (reading?.ok !== true || hashOfTree(reading.tree) !== skills[name]?.sha256) continue;
      const old = join(installed, `.old-${name}`);
      await rm(old, { recursive: true, force: true });
      if (existsSync(join(installed, name))) await rename(join(installed, name), old);
      await rename(join(incoming, name), join(installed, name));
    }
    for (const name of await readdir(installed))
      if (name === incomingFolder || name.startsWith(".old-"))
        await rm(join(installed, name), { recursive: true, force: true });
  }
}

interface FoundInSource {
  readonly facts: SkillFacts;
  readonly tree: SkillTree;
  readonly subfolder: string | undefined;
}

/** One at its top, or those in its folders, or in those of a folder `skills`. All that is found has to be right. */
async function skillsIn({ kind, folder, from }: FetchedSource): Promise<FoundInSource[]> {
  for (const top of await topsOf(kind, folder)) {
    if (existsSync(join(top, skillFile))) return [await readSkill(top, undefined, from)];
    for (const inner of [join(top, "skills"), top]) {
      const names = existsSync(inner) ? await readdir(inner, { withFileTypes: true }) : [];
      const folders = names.filter((entry) => !entry.isFile() && existsSync(join(inner, entry.name, skillFile)));
      if (folders.length > mostSkills)
        throw new AppError(
          "skill_refused",
          `${from} holds ${folders.length} skills; at most ${mostSkills} are installed at once.`,
        );
      if (folders.length === 0) continue;
      const found: FoundInSource[] = [];
      for (const { name } of folders) found.push(await readSkill(join(inner, name), name, from));
      return found;
    }
  }
  return [];
}

/** Archives hold one folder with everything, as a rule. */
async function topsOf(kind: FetchedSource["kind"], folder: string): Promise<string[]> {
  if (kind === "folder" || kind === "git") return [folder];
  const [only, ...others] = await readdir(folder);
  return only === undefined || others.length > 0 ? [folder] : [join(folder, only), folder];
}

async function readSkill(folder: string, subfolder: string | undefined, from: string): Promise<FoundInSource> {
  const refused = (why: string): AppError =>
    new AppError(
      "skill_refused",
      `The skill ${subfolder ?? ""} of ${from} is refused: ${why}.`.replace("skill  of", "skill of"),
    );
  const reading: TreeReading = await readTree(folder, { leaveOut });
  if (!reading.ok) throw refused(`${reading.path} ${reading.detail}`.trim());
  const check = checkTree(undefined, reading.tree);
  if (!check.ok) throw refused(check.faults.map(describeSkillFault).join("; "));
  return { facts: check.facts, tree: reading.tree, subfolder };
}

function noSkill(wanted: string, only: string | undefined, found: readonly FoundInSource[]): AppError {
  if (only === undefined)
    return new AppError("skill_refused", `${wanted} holds no skill: there is no ${skillFile} in it.`);
  const names = found.map(({ facts }) => facts.name).join(", ");
  return new AppError("not_found", `${wanted} holds no skill "${only}". It holds: ${names || "none"}.`);
}
