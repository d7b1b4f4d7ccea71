import * as z from "zod";

import { skillNames } from "../name.ts";

const choice = z.union([z.literal("all"), z.literal("none"), skillNames]);

const skillsSync = z
  .enum(["weekly", "off"])
  .default("weekly")
  .describe(
    "Whether the host looks for other versions of skills that come from git or npm. It tells of them and installs none.",
  );

const skills = choice.default("none").meta({
  description: "Which skills the agents of groups have that say nothing themselves: names, all or none.",
  examples: [["git", "data-analysis"]],
});

const groupSkills = choice.optional().describe("Names of skills, all or none. Left out: as at top level.");

/** The keys `skills` and `skillsSync` at the top, and `skills` of groups. */
export const skillsConfig = {
  top: { skills, skillsSync },
  ofGroup: { skills: groupSkills },
  effects: { skills: "container", skillsSync: "now" },
} as const;
