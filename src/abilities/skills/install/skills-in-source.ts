import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";

import { mostSkills, type SkillFacts, skillFile } from "../../../domain/sandbox/skill.ts";
import type { SkillTool } from "../../../domain/rights/skill-tool.ts";
import { AppError } from "../../../lib/app-error.ts";
import { describeSkillFault } from "../format/parse-skill.ts";
import { checkTree } from "../places.ts";
import { readTree } from "../tree/read-tree.ts";
import type { SkillTree } from "../tree/skill-tree.ts";
import type { FetchedSource } from "./fetch-source.ts";

/** A skill of a source that can be used. */
export interface FoundInSource {
  readonly facts: SkillFacts;
  /** That it brings. */
  readonly tools: readonly SkillTool[];
  readonly tree: SkillTree;
  /** In which folder of the source; undefined at its top. */
  readonly subfolder: string | undefined;
}

/** One that cannot: `name` is that of its folder. */
export interface UnusableSkill {
  readonly name: string;
  readonly reason: string;
}

/** All that a source holds. */
export interface SourceContents {
  readonly from: string;
  readonly found: readonly FoundInSource[];
  readonly unusable: readonly UnusableSkill[];
}

/** Entries at the top of a repository or package that are not part of a skill. */
const leaveOut: ReadonlySet<string> = new Set([".git", ".github", ".gitignore", ".gitattributes", "node_modules"]);
/** Folders in folders, such as `plugins/tea/skills/boil`. */
const deepest = 5;
/** Folders that are looked into for others. */
const mostFolders = 5_000;

/**
 * One at its top, or those in its folders, or in those of a folder `skills`, or else wherever they lie. One that lies
 * alone has to be right; of several, those that cannot be used are told and left out. `names`: only these are looked
 * for, where there are more than are installed at once.
 */
export async function skillsIn(
  { kind, folder, from }: FetchedSource,
  names?: readonly string[],
): Promise<Omit<SourceContents, "from">> {
  for (const top of await topsOf(kind, folder)) {
    if (existsSync(join(top, skillFile))) {
      const read = await readSkill(top, undefined);
      if ("reason" in read) throw new AppError("skill_refused", `The skill of ${from} is refused: ${read.reason}.`);
      return { found: [read], unusable: [] };
    }
    const folders = await foldersIn(top);
    if (folders.length > mostSkills && names !== undefined) return readOnly(top, folders, names);
    if (folders.length > mostSkills)
      throw new AppError(
        "skill_refused",
        `${from} holds ${folders.length} skills; at most ${mostSkills} are installed at once.`,
        { fix: "Name the one that you want: --skill NAME." },
      );
    if (folders.length > 0) return readAll(top, folders);
  }
  return { found: [], unusable: [] };
}

/** Archives hold one folder with everything, as a rule. */
async function topsOf(kind: FetchedSource["kind"], folder: string): Promise<string[]> {
  if (kind === "folder" || kind === "git") return [folder];
  const [only, ...others] = await readdir(folder);
  return only === undefined || others.length > 0 ? [folder] : [join(folder, only), folder];
}

/** Folders with skills, as paths from the top. */
async function foldersIn(top: string): Promise<string[]> {
  for (const inner of ["skills", ""]) {
    const names = existsSync(join(top, inner)) ? await readdir(join(top, inner), { withFileTypes: true }) : [];
    const folders = names.filter((entry) => !entry.isFile() && existsSync(join(top, inner, entry.name, skillFile)));
    if (folders.length > 0) return folders.map(({ name }) => join(inner, name));
  }
  return deeperFolders(top);
}

/** Breadth first, and into no links. */
async function deeperFolders(top: string): Promise<string[]> {
  const found: string[] = [];
  let level = [""];
  let looked = 0;
  for (let depth = 0; depth < deepest && level.length > 0; depth += 1) {
    looked += level.length;
    if (looked > mostFolders) break;
    const inner = (await Promise.all(level.map((folder) => innerFolders(top, folder)))).flat();
    const isSkill = (path: string): boolean => existsSync(join(top, path, skillFile));
    found.push(...inner.filter(isSkill));
    level = inner.filter((path) => !isSkill(path));
  }
  return found.toSorted();
}

async function innerFolders(top: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(top, folder), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !leaveOut.has(entry.name))
    .map(({ name }) => join(folder, name));
}

async function readAll(top: string, folders: readonly string[]): Promise<Omit<SourceContents, "from">> {
  const found: FoundInSource[] = [];
  const unusable: UnusableSkill[] = [];
  for (const subfolder of folders) {
    const read = await readSkill(join(top, subfolder), subfolder);
    const twin = "facts" in read ? found.find(({ facts }) => facts.name === read.facts.name) : undefined;
    if ("reason" in read) unusable.push(read);
    else if (twin === undefined) found.push(read);
    else unusable.push({ name: basename(subfolder), reason: `${twin.subfolder ?? ""} has the same name` });
  }
  return { found, unusable };
}

/** Folders have the names of their skills, as a rule; otherwise one after the other is looked at. */
async function readOnly(
  top: string,
  folders: readonly string[],
  names: readonly string[],
): Promise<Omit<SourceContents, "from">> {
  const isLikely = (folder: string): boolean => names.includes(basename(folder));
  const inOrder = [...folders.filter(isLikely), ...folders.filter((folder) => !isLikely(folder))];
  const found: FoundInSource[] = [];
  const unusable: UnusableSkill[] = [];
  for (const subfolder of inOrder.slice(0, mostFolders)) {
    if (names.every((name) => found.some(({ facts }) => facts.name === name))) break;
    const read = await readSkill(join(top, subfolder), subfolder);
    if ("reason" in read) unusable.push(read);
    else if (names.includes(read.facts.name)) found.push(read);
  }
  return { found, unusable: unusable.filter(({ name }) => names.includes(name)) };
}

async function readSkill(folder: string, subfolder: string | undefined): Promise<FoundInSource | UnusableSkill> {
  const name = basename(subfolder ?? folder);
  const reading = await readTree(folder, { leaveOut });
  if (!reading.ok) return { name, reason: `${reading.path} ${reading.detail}`.trim() };
  const check = await checkTree(undefined, reading.tree);
  if (!check.ok) return { name, reason: check.faults.map(describeSkillFault).join("; ") };
  return { facts: check.facts, tools: check.tools, tree: reading.tree, subfolder };
}
