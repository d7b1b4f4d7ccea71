import * as z from "zod";

import { origins } from "../../domain/people/origin.ts";
import { actions, risks } from "../../domain/rights/policy.ts";
import type { RoleRange } from "../../domain/rights/policy.ts";
import { roles } from "../../domain/people/role.ts";

const toolName = z.string().min(1).max(64);

const roleRange = z.templateLiteral(
  [z.enum(["", "<", "<=", ">", ">="]), z.enum(roles)],
  "a role, or one behind <, <=, > or >=: admin, <admin, >=admin",
) as unknown as z.ZodType<RoleRange, RoleRange>;

/** One rule of a policy. */
export const rule = z.strictObject({
  tool: z
    .union([toolName, z.array(toolName).min(1).max(64)])
    .optional()
    .describe("A name, some names, or * for all; left out: all."),
  risk: z.enum(risks).optional().describe("This risk and above."),
  role: roleRange.optional().describe("Of who asks: admin, <admin, >=admin."),
  origin: z
    .union([z.enum(origins), z.array(z.enum(origins)).min(1)])
    .optional()
    .describe("Only for turns that have read this, or one of these."),
  match: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("A pattern with * for the shell's command or the input as JSON. Advice: the container is the wall."),
  action: z.enum(actions),
  quorum: z.number().int().min(1).max(10).optional().describe("Of ask: this many people have to allow it."),
  approvers: z.enum(["member", "admin", "owner"]).optional().describe("Of ask: the least role that may answer."),
});

/** A rule that can only take away: one that allows or asks would stand before rules of the group that deny. */
export const denial = rule.omit({ quorum: true, approvers: true }).extend({ action: z.literal("deny") });

const rules = z.array(rule).max(200).default([]).describe("In order: the first that fits decides.");
const preset = z
  .enum(["safe", "standard", "open"])
  .optional()
  .describe("For calls that nothing else decides; without one and without a default: open, which allows all.");
const byDefault = z.enum(actions).optional().describe("For tools that are not named; instead of a preset.");
const tools = z.record(toolName, z.enum(actions)).default({});

/** `policy` for everybody. */
export const policy = z.strictObject({
  preset,
  rules,
  default: byDefault,
  tools: tools.meta({ description: "`crabpot tools list` has the names.", examples: [{ shell: "deny" }] }),
});

/** Policy of a group; missing values come from the general policy. */
export const groupPolicy = z.strictObject({ preset, rules, default: byDefault, tools });

export type PolicySettings = z.output<typeof policy>;
export type GroupPolicySettings = z.output<typeof groupPolicy>;
export type PolicyRule = z.output<typeof rule>;
