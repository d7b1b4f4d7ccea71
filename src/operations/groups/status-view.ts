import * as z from "zod";

import type { HotContainerView } from "../../domain/turns/session.ts";
import { list } from "../definition/schemas.ts";

const work = { active: z.boolean(), waiting: z.number().describe("Messages that no turn has taken") };

/** The state of a group and its agents. */
export const groupStatus = z.strictObject({
  group: z.string(),
  assistant: z.string().describe("Name of its agent, of several the first one"),
  ...work,
  agents: list(z.strictObject({ name: z.string(), ...work }))
    .optional()
    .describe("Where it has several"),
  models: list(z.string()).describe("In the order in which they are tried"),
  container: z.strictObject({ name: z.string(), state: z.custom<HotContainerView["state"]>() }).optional(),
  today: z.strictObject({ tokens: z.number(), usd: z.number() }).describe("Of the current day (UTC)"),
  usdPerDay: z
    .strictObject({ group: z.number().nullable(), total: z.number().nullable() })
    .describe("Limits of the group and of all groups together; null: none"),
  asked: list(z.string()).describe("Codes of calls that wait for people"),
  rest: z.string().optional().describe("Why the agent does not answer for now"),
});

export type GroupStatus = z.infer<typeof groupStatus>;
