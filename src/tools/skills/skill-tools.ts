import * as z from "zod";

import { skillLimits } from "../../domain/sandbox/skill.ts";
import { defineTool } from "../define-tool.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { SkillPort } from "./skill-port.ts";

const skillName = z.string().min(1).max(64);

export const getAvailableSkills = defineTool({
  name: "get_available_skills",
  description: "List your skills: instructions for tasks of one kind, each with what it is for.",
  input: z.strictObject({}),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "looking at its skills" },
  needs: ["skills"],
  run: async (_input, { skills }) => given(skills).available(),
});

export const getSkillsForTask = defineTool({
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
  needs: ["skills"],
  run: async ({ task_type: taskType, text }, { skills }) => given(skills).forTask({ taskType, text }),
});

export const getSkillContent = defineTool({
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
  needs: ["skills"],
  run: async ({ name, file }, { skills }) => given(skills).content(name, file),
});

export const getAvailableAgents = defineTool({
  name: "get_available_agents",
  description: "List the profiles that a sub-agent can work by, each with what it is for.",
  input: z.strictObject({}),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "looking at profiles" },
  needs: ["skills", "subAgents"],
  run: async (_input, { skills }) => given(skills).agents(),
});

function given(skills: SkillPort | undefined): SkillPort {
  if (!skills) throw new ToolError("This group has no skills.");
  return skills;
}
