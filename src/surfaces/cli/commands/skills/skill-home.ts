import { SkillHome } from "../../../../abilities/skills/offline.ts";
import type { CommandContext } from "../../context.ts";

/** Opens the skills of a command's home. */
export function skillHome({ paths, environment: { checkout, variables } }: CommandContext): SkillHome {
  return new SkillHome({ paths, checkout, variables });
}
