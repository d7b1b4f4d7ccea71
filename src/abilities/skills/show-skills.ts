import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { type Skill, skillFile, type SkillSummary } from "../../domain/sandbox/skill.ts";
import { type Sourced, sourced } from "../../domain/rights/sourced.ts";
import { withoutOwnElements } from "../../lib/text/own-elements.ts";
import { escapeAttribute } from "../../lib/text/markup.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { containerPaths } from "../../protocol/paths.ts";
import { ToolError } from "../../protocol/tools.ts";
import { textOf } from "./tree/skill-tree.ts";
import type { MatchedSkill } from "./skill-mapping.ts";

/** Maximum characters of a file shown to a model; its container has all of it. */
const shownChars = 30_000;
const listedFiles = 100;

/** `<skill name="git" folder="/workspace/skills/git">what it is for</skill>`, a line each. */
export function formatSkills(skills: readonly SkillSummary[]): string {
  if (skills.length === 0) return "There are no skills.";
  return skills.map((skill) => skillLine(skill)).join("\n");
}

/** The same for those of a task, with why. */
export function listMatched(matched: readonly MatchedSkill[]): string {
  if (matched.length === 0) return "No skill is meant for this.";
  return matched.map(({ skill, why }) => skillLine(skill, why)).join("\n");
}

function skillLine({ name, description }: SkillSummary, why?: string): string {
  const reason = why === undefined ? "" : ` why="${why}"`;
  return `<skill name="${escapeAttribute(name)}"${reason}>${withoutOwnElements(description).replaceAll(/\s+/g, " ")}</skill>`;
}

/** Content of a skill's file, for a model. Throws ToolError with the existing files. */
export async function showSkillFile(skill: Skill, file: string = skillFile): Promise<Sourced> {
  const { name, files, copy } = skill;
  const folder = `${containerPaths.skills}/${name}`;
  // Only what was listed when the skill was taken over: no path is put together from what a model says.
  if (!files.includes(file)) {
    const near = nearest(file, files);
    const hint = near === undefined ? `It has: ${files.slice(0, listedFiles).join(", ")}.` : `Did you mean ${near}?`;
    throw new ToolError(`The skill "${name}" has no file ${JSON.stringify(file)}. ${hint}`);
  }
  const text = textOf(await readFile(join(copy, file)));
  if (text === undefined) throw new ToolError(`${folder}/${file} is no text: work with it in the container.`);
  const said = file === skillFile ? withoutFrontMatter(text) : text;
  return sourced(skillElement(skill, file, said), skill.origins);
}

function skillElement({ name, files }: Skill, file: string, text: string): string {
  const folder = `${containerPaths.skills}/${name}`;
  const others = file === skillFile ? files.filter((other) => other !== skillFile) : [];
  const more = others.length > listedFiles ? ` and ${others.length - listedFiles} more` : "";
  const beside =
    others.length === 0 ? "" : ` files="${escapeAttribute(others.slice(0, listedFiles).join(" ") + more)}"`;
  const shown = text.slice(0, shownChars).toWellFormed();
  const cut =
    text.length > shownChars ? `\n<cut characters="${text.length - shownChars}"/> All of it is ${folder}/${file}.` : "";
  const of = file === skillFile ? "" : ` file="${escapeAttribute(file)}"`;
  return `<skill name="${escapeAttribute(name)}"${of} folder="${folder}"${beside}>\n${withoutOwnElements(shown).trim()}${cut}\n</skill>`;
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^\u{FEFF}?---[ \t]*\r?\n[\s\S]*?^---[ \t]*\r?$/mu, "").trim();
}
