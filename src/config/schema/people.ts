import * as z from "zod";

import { roles } from "../../domain/people/role.ts";

const memberKey = z.string().min(3).max(300);
const role = z.enum(roles);

/** People who may address an agent: everyone, or those with at least this role. */
const trigger = z.enum(["everyone", "member", "admin"]);
const deny = z.array(memberKey).max(1024);

export const people = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "lower case letters, digits, - and _, at most 64"),
    z.strictObject({ ids: z.array(memberKey).min(1).max(64), role: role.optional() }),
  )
  .default({})
  .meta({
    description: "Whom you know: the ids that somebody has on channels, and a role everywhere.",
    examples: [{ ann: { ids: ["http:ann"], role: "owner" } }],
  });

/** Keys other than `default` are judged with the channels: see `checkPeople`. */
const roleByKey = z.object({ default: z.enum(["guest", "member", "admin"]).optional() }).catchall(role);

export const members = roleByKey.prefault({}).meta({
  description: "Roles in groups that say nothing themselves, by channel and id; default: of everybody else.",
  examples: [{ default: "member", "http:ann": "admin" }],
});

export const groupMembers = roleByKey.optional();

export const access = z
  .strictObject({
    trigger: trigger.default("everyone").describe("Who may set agents to work: everyone, or from which role on."),
    deny: deny.default([]).describe("Who is not heard at all, such as http:eve."),
    dm: z
      .enum(["pairing", "allowlist", "open", "off"])
      .default("pairing")
      .describe("Direct chats of people without a group: let in by a code, only those in `people`, all, or none."),
  })
  .prefault({})
  .describe("Who is heard.");

/** Access settings of a group; `deny` adds to the general one. */
export const groupAccess = z.strictObject({ trigger: trigger.optional(), deny: deny.default([]) }).optional();
