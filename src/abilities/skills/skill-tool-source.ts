import type { Group } from "../../domain/chats/group.ts";
import type { Skill } from "../../domain/sandbox/skill.ts";
import type { Tool } from "../../tools/catalog.ts";
import type { ToolSource } from "../../tools/group-tools.ts";
import { toCommandTool } from "../../tools/skills/command-tool.ts";

const none: readonly Tool[] = [];

/**
 * The tools that skills bring. `skillsOf`: those of a group as they are in this turn; the same list while they are the
 * same.
 */
export class SkillToolSource implements ToolSource {
  readonly #skillsOf: (group: Group) => Promise<readonly Skill[]>;
  readonly #tools = new WeakMap<readonly Skill[], readonly Tool[]>();

  constructor(skillsOf: (group: Group) => Promise<readonly Skill[]>) {
    this.#skillsOf = skillsOf;
  }

  async toolsOf(group: Group): Promise<readonly Tool[]> {
    const skills = await this.#skillsOf(group).catch(() => []);
    if (skills.every(({ tools }) => tools.length === 0)) return none;
    const made =
      this.#tools.get(skills) ??
      skills.flatMap(({ tools, origins }) => tools.map((tool) => toCommandTool(tool, origins)));
    this.#tools.set(skills, made);
    return made;
  }
}
