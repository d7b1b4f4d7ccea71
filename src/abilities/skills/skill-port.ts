import { joined, ofHost, type Sourced, sourced } from "../../domain/rights/sourced.ts";
import { leftOf, type Skill } from "../../domain/sandbox/skill.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { CallingTurn } from "../define-ability.ts";
import { formatSkills, listMatched, showSkillFile } from "./show-skills.ts";
import { readSkillMapping, skillsForTask } from "./skill-mapping.ts";
import type { SkillServiceNeeds } from "./skill-needs.ts";

/** The group's skills for tools. Rejects with ToolError only, or a bug. */
export interface SkillPort {
  /** All of them, as the model is shown them. */
  readonly available: () => Sourced;
  /** Those for a task, by what its text names, its type, and what is for every task. */
  readonly forTask: (task: {
    readonly taskType?: string | undefined;
    readonly text?: string | undefined;
  }) => Promise<Sourced>;
  /** Content of SKILL.md, or of another file of the skill. */
  readonly content: (name: string, file: string | undefined) => Promise<Sourced>;
  /** Available kinds of sub-agents. */
  readonly agents: () => Promise<Sourced>;
}

/** Skills for a call of a tool in this turn. Throws ToolError where the group has none. */
export function skillPort(
  { skillsOf, profiles, paths, publish }: Pick<SkillServiceNeeds, "skillsOf" | "profiles" | "paths" | "publish">,
  knownIn: (group: string) => readonly Skill[],
  { group, session, turn, settings }: CallingTurn,
): SkillPort {
  if (skillsOf(group.name) === "none") throw new ToolError("This group has no skills.");
  const known = (): readonly Skill[] => leftOf(knownIn(group.name), settings.agent.skills);
  return {
    available: () => {
      const skills = known();
      return sourced(
        formatSkills(skills),
        skills.flatMap(({ origins }) => origins),
      );
    },
    forTask: async (task) => {
      const skills = known();
      const matched = skillsForTask(skills, { ...task, mapping: await readSkillMapping(paths.skillMapping) });
      return sourced(
        listMatched(matched),
        skills.flatMap(({ origins }) => origins),
      );
    },
    content: async (name, file) => {
      const skill = find(known(), name);
      const said = await showSkillFile(skill, file);
      const data = { name, sha256: skill.sha256, way: "tool" } as const;
      const about = { group: group.name, session: session.id, turn: turn.id };
      await publish({ type: "skill.loaded", ...about, actor: "agent", data });
      return said;
    },
    agents: async () => {
      // The operator wrote them.
      const usable = (await profiles()).map(({ name, description }) => sourced(`${name}: ${description}`, []));
      return usable.length === 0 ? ofHost`There are no profiles.` : joined(usable, "\n");
    },
  };
}

function find(skills: readonly Skill[], name: string): Skill {
  const skill = skills.find((one) => one.name === name);
  if (skill) return skill;
  const names = skills.map((one) => one.name);
  const near = nearest(name, names);
  const hint = near === undefined ? `Skills: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`;
  throw new ToolError(`There is no skill ${JSON.stringify(name)}. ${hint}`);
}
