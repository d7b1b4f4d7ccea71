import * as z from "zod";

import { mainAgent } from "../../domain/turns/session.ts";
import { denial } from "./policy.ts";
import { skillNames } from "../../abilities/name.ts";

/** Longest instructions that an agent has in the configuration; what is longer belongs into the group's AGENTS.md. */
const instructionChars = 32_000;

/** Names that people write after @. */
export const agentName = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u);

/** Stands in keys of sessions, which colons divide. */
const agentId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "lower case letters, digits, - and _, at most 64, starting with a letter or digit",
  );

/** More agents than that would talk past each other. */
const agentsPerGroup = 8;

/** The agents of one group, the first one first. */
export const groupAgents = z
  .array(agentId)
  .min(1)
  .max(agentsPerGroup)
  .refine((ids) => new Set(ids).size === ids.length, "each agent once");

const agent = z.strictObject({
  name: agentName.optional().describe("What people write behind @. Left out: the id."),
  route: agentId.optional().describe("Route of models where the group names none."),
  instructions: z
    .string()
    .trim()
    .min(1)
    .max(instructionChars)
    .optional()
    .describe("What it is there for, before what the group's own files say."),
  tools: z
    .array(z.string().min(1).max(64))
    .max(256)
    .optional()
    .describe("The only tools that it may use, as far as the policy allows them. Left out: all."),
  skills: skillNames.optional().describe("The only skills that it has of its group's. Left out: all of them."),
  permissions: z
    .array(denial)
    .max(100)
    .optional()
    .describe("Rules that come before those of its groups. They can only take away: their action is deny."),
});

/** `agents`: those that groups can have, by an id that never changes. */
export const agents = z
  .record(agentId, agent)
  .refine((all) => Object.keys(all).length <= 64, "at most 64 agents")
  .default({})
  .meta({
    description: `Agents that groups can have, by ids that never change. A group that names none has ${mainAgent}, which is called as assistant.name says.`,
    examples: [
      {
        scout: {
          name: "Scout",
          instructions: "You look things up and say where you found them.",
          tools: ["read_file"],
        },
      },
    ],
  });

export type AgentSettings = z.output<typeof agent>;
