import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { type SkillFacts, skillFile } from "../../../domain/sandbox/skill.ts";
import type { SkillTool } from "../../../domain/rights/skill-tool.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { nearest } from "../../../lib/text/nearest.ts";
import { removeLeftBehind } from "../../../lib/files/guarded-change.ts";
import { readSkillLock, type SkillLock, withSkillLock, writeSkillLock } from "./lock-file.ts";
import { findBundled, findInstalled, incomingFolder, type SkillFolders } from "../places.ts";
import { readTree } from "../tree/read-tree.ts";
import { writeTree } from "../tree/skill-copies.ts";
import { hashOfTree, type SkillTree } from "../tree/skill-tree.ts";
import { type FetchOptions, fetchSource } from "./fetch-source.ts";
import { type Finding, scanSkill, type Wants, wantsOf } from "./scan-skill.ts";
import { type FoundInSource, skillsIn, type SourceContents, type UnusableSkill } from "./skills-in-source.ts";
import { type Source, sourceOf } from "./source.ts";

/** A skill of a source, as it would be installed. */
export interface PlannedSkill {
  readonly name: string;
  readonly facts: SkillFacts;
  /** That it brings. */
  readonly tools: readonly SkillTool[];
  readonly sha256: string;
  readonly tree: SkillTree;
  /** Among several of one source: in which folder. */
  readonly subfolder: string | undefined;
  readonly wants: Wants;
  readonly findings: readonly Finding[];
  /** Comparison with the installed skill of this name. */
  readonly replaces: "nothing" | "same" | "other";
  /** There is one of this name that comes with crabpot, which it would take the place of. */
  readonly hidesBundled: boolean;
}

export interface InstallPlan {
  readonly from: string;
  readonly skills: readonly PlannedSkill[];
  /** Others of the source, which are left out. */
  readonly unusable: readonly UnusableSkill[];
}

/** An installed skill, as the lock file knows it. */
export interface InstalledFrom {
  readonly name: string;
  readonly from: string;
  readonly sha256: string;
}

/** An installed skill beside what its source has now; of a failure, why that is not known. */
export type ComparedSkill = Pick<InstalledFrom, "name" | "from"> &
  (
    | { readonly state: "current" | "outdated"; readonly now: PlannedSkill }
    | { readonly state: "failed"; readonly error: Error }
  );

/** Folders of sources that are being looked at, each with its process. */
const fetchedPrefix = ".fetched-";

/**
 * Installs skills for all groups of a home: looks at all of a source before anything is written, and runs nothing of
 * it.
 */
export class SkillInstaller {
  readonly #places: SkillFolders;
  readonly #now: () => number;
  readonly #variables: FetchOptions["variables"];

  constructor(options: {
    readonly places: SkillFolders;
    readonly now: () => number;
    /** Environment of the programs that fetch. */
    readonly variables: FetchOptions["variables"];
  }) {
    this.#places = options.places;
    this.#now = options.now;
    this.#variables = options.variables;
  }

  /** Plans an installation. Throws why it is impossible. `only`: a single skill of several, by name. */
  async plan(wanted: string, only?: string): Promise<InstallPlan> {
    const contents = await this.#fetch(sourceOf(wanted), { names: only === undefined ? undefined : [only] });
    const { from, found, unusable } = contents;
    const chosen = only === undefined ? found : found.filter(({ facts }) => facts.name === only);
    if (chosen.length === 0) throw noSkill(wanted, only, contents);
    return { from, skills: await this.#describe(chosen), unusable: only === undefined ? unusable : [] };
  }

  /** Current content of installed skills' sources; each source is asked once. On abort, returns what it has. */
  async compare(installed: readonly InstalledFrom[], signal?: AbortSignal): Promise<readonly ComparedSkill[]> {
    const compared: ComparedSkill[] = [];
    for (const from of new Set(installed.map((one) => one.from))) {
      if (signal?.aborted === true) break;
      compared.push(
        ...(await this.#compareWith(
          from,
          installed.filter((one) => one.from === from),
          signal,
        )),
      );
    }
    return compared;
  }

  async #compareWith(
    from: string,
    installed: readonly InstalledFrom[],
    signal: AbortSignal | undefined,
  ): Promise<ComparedSkill[]> {
    try {
      const contents = await this.#fetch(sourceOf(from), { names: installed.map(({ name }) => name), signal });
      const planned = await this.#describe(
        contents.found.filter(({ facts }) => installed.some(({ name }) => name === facts.name)),
      );
      return installed.map(({ name, sha256 }) => {
        const now = planned.find((skill) => skill.name === name);
        if (!now) return { name, from, state: "failed", error: noSkill(from, name, contents) };
        return { name, from, state: now.sha256 === sha256 ? "current" : "outdated", now };
      });
    } catch (error) {
      return installed.map(({ name }) => ({ name, from, state: "failed", error: toError(error) }));
    }
  }

  /** All skills of a source, in memory; of one that has too many only these. */
  async #fetch(
    wanted: Source,
    { names, signal }: { readonly names: readonly string[] | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<SourceContents> {
    const { installed } = this.#places;
    await mkdir(installed, { recursive: true, mode: 0o700 });
    const scratch = await mkdtemp(join(installed, `${fetchedPrefix}${process.pid}-`));
    try {
      const source = await fetchSource(wanted, { scratch, variables: this.#variables, signal });
      return { from: source.from, ...(await skillsIn(source, names)) };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async #describe(skills: readonly FoundInSource[]): Promise<PlannedSkill[]> {
    if (skills.length === 0) return [];
    const installed = await findInstalled(this.#places);
    const bundled = await findBundled(this.#places);
    return skills.map(({ facts, tools, tree, subfolder }) => {
      const sha256 = hashOfTree(tree);
      const before = installed.find(({ name }) => name === facts.name);
      const isSame = before?.state === "ok" && before.sha256 === sha256;
      return {
        name: facts.name,
        facts,
        tools,
        sha256,
        tree,
        subfolder,
        wants: wantsOf(facts.allowedTools, tree),
        findings: scanSkill(tree),
        replaces: before === undefined ? "nothing" : isSame ? "same" : "other",
        hidesBundled: bundled.some(({ name }) => name === facts.name),
      };
    });
  }

  /**
   * Installs as planned: killed at any point, each skill is the old or the new one. `subscribed`: the host checks for
   * new versions; unchanged by default.
   */
  async install({ from, skills }: Pick<InstallPlan, "from" | "skills">, subscribed?: boolean): Promise<void> {
    await this.#changing(async (before) => {
      const incoming = join(this.#places.installed, incomingFolder);
      for (const { name, tree } of skills) {
        await rm(join(incoming, name), { recursive: true, force: true });
        await mkdir(incoming, { recursive: true, mode: 0o700 });
        await writeTree(join(incoming, name), tree);
      }
      const installedAt = new Date(this.#now()).toISOString();
      const added = skills.map(({ name, sha256, subfolder }) => {
        const isSubscribed = subscribed ?? before.skills[name]?.subscribed;
        const more = {
          ...(subfolder !== undefined && { subfolder }),
          ...(isSubscribed !== undefined && { subscribed: isSubscribed }),
        };
        return [name, { sha256, from, installedAt, ...more }];
      });
      // From here on it is the new one.
      return { ...before, skills: { ...before.skills, ...(Object.fromEntries(added) as SkillLock["skills"]) } };
    });
  }

  /** Throws `not_found` for one that is not installed. */
  async remove(name: string): Promise<void> {
    const { installed } = this.#places;
    await this.#changing(async (before) => {
      const hasFolder = existsSync(join(installed, name));
      const isThere = Object.hasOwn(before.skills, name) || hasFolder;
      if (!isThere || name.startsWith(".") || name.includes("/")) throw await this.#unknown(name);
      // As if it were on its way: it still counts while the lock file has it, and is cleared away when it has not.
      const incoming = join(installed, incomingFolder);
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      if (hasFolder) await rename(join(installed, name), join(incoming, name));
      const { [name]: _, ...skills } = before.skills;
      return { ...before, skills };
    });
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
    await removeLeftBehind(installed, fetchedPrefix);
    for (const name of await readdir(installed))
      if (name === incomingFolder || name.startsWith(".old-"))
        await rm(join(installed, name), { recursive: true, force: true });
  }
}

function noSkill(
  wanted: string,
  only: string | undefined,
  { found, unusable }: Pick<SourceContents, "found" | "unusable">,
): AppError {
  const [first] = unusable;
  const meant = only === undefined ? first : unusable.find(({ name }) => name === only);
  if (meant) return new AppError("skill_refused", `The skill ${meant.name} of ${wanted} is refused: ${meant.reason}.`);
  if (only === undefined)
    return new AppError("skill_refused", `${wanted} holds no skill: there is no ${skillFile} in it.`);
  const names = found.map(({ facts }) => facts.name).join(", ");
  return new AppError("not_found", `${wanted} holds no skill "${only}". It holds: ${names || "none"}.`);
}
