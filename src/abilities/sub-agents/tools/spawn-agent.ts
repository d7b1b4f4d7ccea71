import * as z from "zod";

import { spawnTool, subAgentContexts } from "../../../domain/work/sub-agent.ts";
import { ToolError } from "../../../protocol/tools.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";

const taskChars = 8_000;
const files = 50;
const skills = 100;

/** A model's description of a sub-agent to create. */
export const spawnInput = z.strictObject({
  task: z.string().min(1).max(taskChars).describe("All that it has to know: it has not seen this conversation."),
  agent: z.string().min(1).max(64).optional().describe("Name of the profile that it works by."),
  route: z.string().min(1).max(64).optional().describe("A cheaper route of models."),
  skills: z
    .array(z.string().min(1).max(64))
    .max(skills)
    .optional()
    .describe("The only skills that it gets of yours. Left out: all that you have."),
  context: z
    .enum(subAgentContexts)
    .default("none")
    .describe("none: the task alone; summary: the last messages, shortened; fork: this conversation so far."),
  background: z.boolean().default(false).describe("You go on, and the result comes later, as work."),
  timeoutMinutes: z.number().positive().max(1_440).optional().describe("After this time it is ended."),
  files: z.array(z.string().min(1).max(1_024)).max(files).default([]).describe("Files that it should look at first."),
});

/**
 * Creates a sub-agent. The host does so while storing the answer with its calls, so that a crash cannot duplicate it;
 * the call never reaches the agent.
 */
export const spawnAgent = defineAbilityTool<unknown>()({
  name: spawnTool,
  description:
    "Have a sub-agent do a piece of work by itself. It reads the group's folder and cannot change it; " +
    "its answer comes back with the files that it leaves in /workspace/scratch/out. " +
    "Several in one answer work at the same time.",
  input: spawnInput,
  runs: "host",
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "having a sub-agent work", shows: "task" },
  right: "spawn",
  run: async () => {
    throw new ToolError("A sub-agent is begun by the host, not by a program in the container.");
  },
});
