import * as z from "zod";

import { skillFile, skillLimits, skillProposal } from "../../../domain/sandbox/skill.ts";
import { ofHost } from "../../../domain/rights/sourced.ts";
import { defineTool } from "../../../tools/define-tool.ts";

const mostFiles = 20;
const fileChars = 32_000;
const wholeChars = 64_000;

const file = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(skillLimits.pathChars)
    .describe(`Path in the skill, such as ${skillFile} or scripts/sum.py.`),
  content: z
    .string()
    .max(fileChars)
    .refine((text) => text.isWellFormed(), "has half a character in it"),
});

export const proposeSkill = defineTool({
  name: skillProposal,
  description:
    "Propose a skill of this group's own, new or changed: all of its files. People are shown what would change, and an admin decides. The skill skill-writer says how one is written.",
  input: z.strictObject({
    name: z.string().min(1).max(64).describe("Lower case letters, digits and hyphens; the same as in its SKILL.md."),
    files: z
      .array(file)
      .min(1)
      .max(mostFiles)
      .refine(
        (files) => files.reduce((sum, { content }) => sum + content.length, 0) <= wholeChars,
        `has more than ${wholeChars} characters in all`,
      )
      .describe("All of its files. What is left out is removed."),
    reason: z.string().max(400).optional().describe("Why, for the people who decide."),
  }),
  runs: "host",
  risk: "high",
  asksAlways: true,
  timeoutSeconds: 60,
  activity: { doing: "changing its skills", shows: "name" },
  needs: ["changeOutcome"],
  requires: "skills",
  right: "propose",
  run: (_input, { changeOutcome }) =>
    changeOutcome({ thing: "The skill", written: ofHost`The skill is written. You have it from the next message on.` }),
});
