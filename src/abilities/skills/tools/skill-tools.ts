import * as z from "zod";

import { skillLimits } from "../../../domain/sandbox/skill.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";
import type { SkillPort } from "../skill-port.ts";

const skillName = z.string().min(1).max(64);

export const getAvailableSkills = defineAbilityTool<SkillPort>()({
  name: "get_available_skills",
  description: "List your skills: instructions for tasks of one kind, each with what it is for.",
  input: z.strictObject({}),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "looking at its skills" },
  requires: "skills",
  run: async (_input, { port }) => port.available(),
});

export const getSkillsForTask = defineAbilityTool<SkillPort>()({
  name: "get_skills_for_task",
  description:
    "Find the skills that are meant for a task: those that its text names as $name, those for its type, those for every task.",
  input: z.strictObject({
    task_type: z.string().min(1).max(64).optional().describe("Type of the task, as the operator calls it."),
    text: z.string().max(16_000).optional().describe("What was asked."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "looking at its skills" },
  requires: "skills",
  run: async ({ task_type: taskType, text }, { port }) => port.forTask({ taskType, text }),
});

export const getSkillContent = defineAbilityTool<SkillPort>()({
  name: "get_skill_content",
  description: "Read a skill before you do what it is for: its SKILL.md, or another of its files.",
  input: z.strictObject({
    name: skillName,
    file: z.string().min(1).max(skillLimits.pathChars).optional().describe("Path in the skill. Left out: SKILL.md."),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "reading a skill", shows: "name" },
  requires: "skills",
  run: async ({ name, file }, { port }) => port.content(name, file),
});

export const getAvailableAgents = defineAbilityTool<SkillPort>()({
  name: "get_available_agents",
  description: "List the profiles that a sub-agent can work by, each with what it is for.",
  input: z.strictObject({}),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "looking at profiles" },
  requires: "skills",
  run: async (_input, { port }) => port.agents(),
});
