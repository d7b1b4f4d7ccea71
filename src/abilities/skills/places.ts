import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import {
  mostSkills,
  type Skill,
  type SkillFacts,
  type SkillFault,
  skillFile,
  skillLimits,
  skillNameFault,
  type SkillSource,
  skillSources,
} from "../../domain/sandbox/skill.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { SkillTool } from "../../domain/rights/skill-tool.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import { visible } from "../../lib/text/visible.ts";
import { readAllowedSkill } from "./allowed-skills.ts";
import { parseSkill } from "./format/parse-skill.ts";
import { readSkillLock, type SkillLockEntry } from "./install/lock-file.ts";
import { readSkillTools } from "./format/parse-skill-tools.ts";
import { hashOfTree, type SkillTree, type TreeReading } from "./tree/skill-tree.ts";
import { readTree } from "./tree/read-tree.ts";

/** Folders of skills; absolute paths. */
export interface SkillFolders {
  /** Those that come with crabpot: a folder of the checkout. */
  readonly bundled: string;
  /** Installed ones, and what is on its way there. */
  readonly installed: string;
  readonly lock: string;
  /** Folders of groups; each may have a folder `skills`. */
  readonly groups: string;
  /** Written by agents and allowed by people. */
  readonly allowed: string;
}

/** Folders of skills in a home and a checkout. */
export function skillFolders(
  paths: Readonly<Record<"skills" | "skillLock" | "groups" | "groupSkills", string>>,
  checkout: string,
): SkillFolders {
  return {
    bundled: join(checkout, "skills"),
    installed: paths.skills,
    lock: paths.skillLock,
    groups: paths.groups,
    allowed: paths.groupSkills,
  };
}

/** `changed`: not what was installed. `unlocked`: put into the folder of installed ones without being installed. */
export type SkillState = "ok" | "invalid" | "changed" | "unlocked" | "hidden";

/** A skill as it was found at its place. */
export interface FoundSkill {
  readonly name: string;
  readonly source: SkillSource;
  readonly group: string | undefined;
  readonly state: SkillState;
  readonly faults: readonly SkillFault[];
  /** Facts, when SKILL.md is readable. */
  readonly facts: SkillFacts | undefined;
  readonly sha256: string | undefined;
  readonly tree: SkillTree | undefined;
  /** That it brings. */
  readonly tools: readonly SkillTool[];
  readonly byAgent: boolean;
  readonly origins: readonly Origin[];
  readonly folder: string;
  readonly locked?: SkillLockEntry | undefined;
}

/** Folder of `installed` for skills on their way into it. */
export const incomingFolder = ".incoming";

/** Candidate folder names of a source, sorted. Names with a leading dot are ignored. */
function namesIn(folder: string): string[] {
  if (!existsSync(folder) || !lstatSync(folder).isDirectory()) return [];
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isFile());
  return names
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("."))
    .toSorted()
    .slice(0, mostSkills);
}

export async function findBundled({ bundled }: Pick<SkillFolders, "bundled">): Promise<FoundSkill[]> {
  const at = { source: "bundled", group: undefined } as const;
  return Promise.all(namesIn(bundled).map((name) => find(join(bundled, name), { ...at, name })));
}

/** Those of the lock file, and what else lies in the folder. */
export async function findInstalled({
  installed,
  lock,
}: Pick<SkillFolders, "installed" | "lock">): Promise<FoundSkill[]> {
  const { skills } = await readSkillLock(lock);
  const names = [...new Set([...Object.keys(skills), ...namesIn(installed)])].toSorted();
  return Promise.all(names.map((name) => findOneInstalled(installed, name, skills[name])));
}

async function findOneInstalled(
  installed: string,
  name: string,
  locked: SkillLockEntry | undefined,
): Promise<FoundSkill> {
  const at = { source: "installed", group: undefined, name } as const;
  const folder = join(installed, name);
  const found = await find(folder, at);
  if (!locked) {
    const detail = `is not in skills.lock: install it with \`crabpot skills install\` instead of putting it there`;
    return { ...found, state: "unlocked", faults: [{ path: "", detail }] };
  }
  if (found.sha256 === locked.sha256) return { ...found, locked };
  // Killed between the two: the lock file is what counts.
  const incoming = join(installed, incomingFolder, name);
  const next = existsSync(incoming) ? await find(incoming, at) : undefined;
  if (next?.sha256 === locked.sha256) return { ...next, locked };
  const why = found.sha256 === undefined ? found.faults.map(({ detail }) => detail).join("; ") : "has other files";
  const detail = `is not what was installed (${why}); it is not used until it is installed again`;
  return { ...found, state: "changed", faults: [{ path: "", detail }], locked };
}

/**
 * A group's own: those that people have allowed its agent to have, and those that the operator has put into the folder
 * `skills` of the group's folder. There an agent can write, too, so what it could have written is not even looked at.
 */
export async function findOfGroup(
  { groups, allowed }: Pick<SkillFolders, "groups" | "allowed">,
  group: string,
): Promise<FoundSkill[]> {
  const own = join(groups, group, "skills");
  const owners = [hostUid(), 0];
  const names = namesIn(own).filter((name) => isOwnedBy(join(own, name), owners));
  const at = { source: "group", group } as const;
  const placed = await Promise.all(names.map((name) => find(join(own, name), { ...at, name }, owners)));
  const byAgent = await Promise.all(
    namesOfAllowed(join(allowed, group)).map(async (name) => {
      const folder = join(allowed, group, `${name}.json`);
      const { reading, origins } = await readAllowedSkill(folder);
      return { ...(await judge(reading, { ...at, name, folder })), byAgent: true, origins };
    }),
  );
  return [...placed, ...byAgent.filter(({ name }) => !names.includes(name))];
}

function namesOfAllowed(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names
    .map((name) => name.slice(0, -".json".length))
    .toSorted()
    .slice(0, mostSkills);
}

function isOwnedBy(path: string, owners: readonly number[]): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && owners.includes(stats.uid);
}

type Place = Pick<FoundSkill, "name" | "source" | "group">;

async function find(folder: string, place: Place, owners?: readonly number[]): Promise<FoundSkill> {
  const reading = await readTree(folder, { owners }).catch((): TreeReading => ({
    ok: false,
    path: "",
    detail: "is no folder (or a link)",
  }));
  return judge(reading, { ...place, folder });
}

/** Judges a tree read from this folder. */
export async function judge(
  reading: TreeReading,
  { name, source, group, folder }: Place & { readonly folder: string },
): Promise<FoundSkill> {
  const unread = { tree: undefined, sha256: undefined, facts: undefined, tools: [] };
  const found = { name, source, group, folder, byAgent: false, origins: [], ...unread };
  const invalid = (faults: readonly SkillFault[]): FoundSkill => ({ ...found, state: "invalid", faults });
  const nameFault = skillNameFault(name);
  if (nameFault !== undefined) return invalid([{ path: `"${visible(name)}"`, detail: nameFault }]);
  if (!reading.ok) return invalid([{ path: reading.path, detail: reading.detail }]);
  const { tree } = reading;
  const sha256 = hashOfTree(tree);
  const check = await checkTree(name, tree);
  if (!check.ok) return { ...found, state: "invalid", faults: check.faults, sha256, tree };
  return { ...found, state: "ok", faults: [], facts: check.facts, tools: check.tools, sha256, tree };
}

/** Content of a skill's files, or their fault. */
export type TreeCheck =
  | { readonly ok: true; readonly facts: SkillFacts; readonly tools: readonly SkillTool[] }
  | { readonly ok: false; readonly faults: readonly SkillFault[] };

/** Checks that this is a complete skill of this name (undefined: any). */
export async function checkTree(name: string | undefined, tree: SkillTree): Promise<TreeCheck> {
  const check = checkMainFile(name, tree);
  if (!check.ok) return check;
  const read = await readSkillTools(check.facts.name, tree);
  return read.ok ? { ...check, tools: read.tools } : read;
}

function checkMainFile(name: string | undefined, { files }: SkillTree): ReturnType<typeof parseSkill> {
  const main = files.find(({ path }) => path === skillFile);
  if (!main) return failed(skillFile, "is missing");
  if (main.bytes.length > skillLimits.textBytes)
    return failed(skillFile, `is larger than ${skillLimits.textBytes} bytes`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(main.bytes);
  } catch {
    return failed(skillFile, "is not UTF-8 text");
  }
  const check = parseSkill(name, text);
  if (check.ok) return check;
  return {
    ok: false,
    faults: check.faults.map(({ path, detail }) => ({
      path: path === "" ? skillFile : `${skillFile}: ${path}`,
      detail,
    })),
  };
}

function failed(path: string, detail: string): ReturnType<typeof parseSkill> {
  return { ok: false, faults: [{ path, detail }] };
}

/** Skills that a group could have; undefined: any group. */
export async function findFor(places: SkillFolders, group: string | undefined): Promise<readonly FoundSkill[]> {
  const own = group === undefined ? [] : await findOfGroup(places, group);
  return nearestOf([...(await findBundled(places)), ...(await findInstalled(places)), ...own]);
}

/** The nearest of several skills with one name: it hides farther ones, usable or not. */
export function nearestOf(found: readonly FoundSkill[]): readonly FoundSkill[] {
  return found.map((one) => {
    const isHidden = found.some(
      (other) =>
        other.name === one.name &&
        skillSources.indexOf(other.source) > skillSources.indexOf(one.source) &&
        (other.group === undefined || other.group === one.group || one.group === undefined) &&
        other.state !== "unlocked",
    );
    return isHidden ? { ...one, state: "hidden" } : one;
  });
}

/** One that can be used. */
export type UsableSkill = FoundSkill & {
  readonly facts: SkillFacts;
  readonly sha256: string;
  readonly tree: SkillTree;
};

export function isUsable(found: FoundSkill): found is UsableSkill {
  const { facts, sha256, tree, state } = found;
  return state === "ok" && facts !== undefined && tree !== undefined && sha256 !== undefined;
}

/** With the copy of it that is mounted. */
export function toSkill({ facts, tools, sha256, tree, source, byAgent, origins }: UsableSkill, copy: string): Skill {
  return { ...facts, tools, source, sha256, byAgent, origins, copy, files: tree.files.map(({ path }) => path) };
}
