import { defineAbility } from "../define-ability.ts";
import { skillsConfig } from "./config.ts";
import type { SkillServiceNeeds } from "./skill-needs.ts";
import { proposeSkill } from "./tools/propose-skill.ts";
import { getAvailableAgents, getAvailableSkills, getSkillContent, getSkillsForTask } from "./tools/skill-tools.ts";

/** Gives agents instructions, scripts and tools for tasks of one kind. */
export const skills = defineAbility<SkillServiceNeeds>()({
  name: "skills",
  config: skillsConfig,
  tools: [getAvailableAgents, getAvailableSkills, getSkillContent, getSkillsForTask, proposeSkill],
  start: async (needs, settings) => {
    const { SkillService } = await import("./skill-service.ts");
    return new SkillService(needs, settings);
  },
  portFor: (service, scope) => service.portFor(scope),
});
