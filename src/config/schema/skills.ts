import * as z from "zod";

import { skillNameFault } from "../../domain/sandbox/skill.ts";

const skillName = z.string().superRefine((name, context) => {
  const fault = skillNameFault(name);
  if (fault !== undefined) context.addIssue(fault);
});

/** Skills by their names. */
export const skillNames = z.array(skillName).max(100);

const choice = z.union([z.literal("all"), z.literal("none"), skillNames]);

/** `skills` of a group, which says nothing where it is left out. */
export const groupSkills = choice.optional().describe("Names of skills, all or none. Left out: as at top level.");

/** `skillsSync`. */
export const skillsSync = z
  .enum(["weekly", "off"])
  .default("weekly")
  .describe(
    "Whether the host looks for other versions of skills that come from git or npm. It tells of them and installs none.",
  );

/** `skills` at top level. */
export const skills = choice.default("none").meta({
  description: "Which skills the agents of groups have that say nothing themselves: names, all or none.",
  examples: [["git", "data-analysis"]],
});
