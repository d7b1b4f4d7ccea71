import type { SkillNeeds } from "../../../abilities/skills/operations.ts";
import { resolveGroup } from "../../../config/resolve-group.ts";
import { skillHome } from "../commands/skills/skill-home.ts";
import type { CommandContext } from "../context.ts";

/** Lists the skills that stand in the home now. */
export async function openSkills(context: CommandContext): Promise<SkillNeeds & AsyncDisposable> {
  const home = skillHome(context);
  return {
    skills: {
      list: async (group) => {
        if (group === undefined) return home.list();
        const { skills: choice, agent } = resolveGroup((await context.loadConfig()).config, { name: group });
        return home.listFor(group, { choice, left: agent.skills });
      },
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
