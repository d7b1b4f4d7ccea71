import type { Origin } from "../people/origin.ts";
import type { SkillTool } from "../rights/skill-tool.ts";
import { unseenCharacter } from "../../lib/text/hidden-characters.ts";

/** Sources of skills, farthest first; the nearest one wins. */
export const skillSources = ["bundled", "installed", "group"] as const;

export type SkillSource = (typeof skillSources)[number];

/** Which skills a group has: those of these names, every one that can be used, or none. */
export type SkillChoice = readonly string[] | "all" | "none";

export const skillFile = "SKILL.md";

/** Tools that a skill brings are described here. */
export const skillToolsFile = "SKILL.toml";

/** The tool by which an agent proposes one. */
export const skillProposal = "propose_skill";

/** Bounds on one skill; what is beyond is refused as a whole. */
export const skillLimits = {
  bytes: 10 * 1024 * 1024,
  /** Files and folders together. */
  entries: 1_000,
  /** Folders in folders. */
  depth: 8,
  pathChars: 200,
  /** Maximum size of SKILL.md. */
  textBytes: 256 * 1024,
} as const;

/** Maximum skills read per source, in name order. */
export const mostSkills = 100;

/** Front matter of SKILL.md. */
export interface SkillFacts {
  readonly name: string;
  readonly description: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * Tools that it wants to use without asking, as its author wrote them. It gets none by that: the group's policy
   * decides.
   */
  readonly allowedTools: readonly string[];
  /** Keys that mean something to other programs, and nothing here. */
  readonly unknownKeys: readonly string[];
}

/** A skill that can be used. */
export interface Skill extends SkillFacts {
  /** Those that it brings. */
  readonly tools: readonly SkillTool[];
  readonly source: SkillSource;
  /** Hash of all files: see `hashOfTree`. */
  readonly sha256: string;
  /** Paths of its files, sorted. */
  readonly files: readonly string[];
  /** The host's own copy of it, which is mounted; absolute. */
  readonly copy: string;
  /** Written by an agent and allowed by people. */
  readonly byAgent: boolean;
  /** Origins of its words: `agent` and what the agent had read when it wrote them; none where it is the operator's. */
  readonly origins: readonly Origin[];
}

/** A skill as listed for an agent before it reads it. */
export type SkillSummary = Pick<Skill, "name" | "description">;

/** Something that is wrong with a skill: `path` is of a file in it, or a key of its front matter. */
export interface SkillFault {
  readonly path: string;
  readonly detail: string;
}

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Returns why this is no valid skill name, as the end of a sentence; undefined when valid. */
export function skillNameFault(name: string): string | undefined {
  if (name.length === 0 || name.length > 64) return "must have 1 to 64 characters";
  if (namePattern.test(name)) return undefined;
  const odd = Array.from(name).find((character) => !/[a-z0-9-]/.test(character));
  if (odd === undefined) return "must begin and end with a letter or a digit, and have no two hyphens in a row";
  const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const shown = /[\p{Cc}\p{Zs}]/u.test(odd) || odd.search(unseenCharacter) >= 0 ? "" : `"${odd}", `;
  return `may hold lower case letters a to z, digits and hyphens, not ${shown}U+${code}`;
}

/** A group that is to have none has none, not even what its agent has written. */
export function wantsNone(choice: SkillChoice): boolean {
  return choice === "none" || choice.length === 0;
}

/**
 * Does the group have this skill, if there is one? What people have allowed its agent to write is for the group,
 * whatever else it is to have.
 */
export function isChosen(
  choice: SkillChoice,
  { name, byAgent = false }: { name: string; byAgent?: boolean | undefined },
): boolean {
  if (wantsNone(choice)) return false;
  return byAgent || choice === "all" || choice.includes(name);
}

/** Names that stand in every one of these lists; undefined: there is no list. */
export function namedByAll(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const [first, ...others] = lists.filter((names) => names !== undefined);
  return first?.filter((name) => others.every((names) => names.includes(name)));
}

/** Those of these names; undefined: all of them. */
export function leftOf(skills: readonly Skill[], names: readonly string[] | undefined): readonly Skill[] {
  return names ? skills.filter(({ name }) => names.includes(name)) : skills;
}

/**
 * Returns why a sub-agent cannot have these skills, for the model; undefined when it can. `lists`: skills left by its
 * parent and its profile.
 */
export function refusalOfSkills(
  known: readonly Pick<Skill, "name">[],
  wanted: readonly string[],
  lists: readonly (readonly string[] | undefined)[],
): string | undefined {
  const offered = namedByAll([known.map(({ name }) => name), ...lists]) ?? [];
  const missing = wanted.find((name) => !offered.includes(name));
  if (missing === undefined) return undefined;
  return `You have no skill ${JSON.stringify(missing)} to give to it. You may name: ${offered.join(", ") || "none"}.`;
}
