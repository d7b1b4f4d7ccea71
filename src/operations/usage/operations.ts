import * as z from "zod";

import type { BudgetLimits, GroupChat } from "../../domain/chats/group.ts";
import { toUsageLine, usageKinds } from "../../domain/turns/usage.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { list, onlyGroup } from "../definition/schemas.ts";
import { firstDay, isFirstDay } from "./first-day.ts";
import { describeUsage } from "./usage-in-chat.ts";

/** The parts that know what models have used. */
export interface UsageNeeds {
  readonly store: { readonly usage: Pick<Store["usage"], "sums"> };
  readonly groups: { list(): readonly GroupChat[] };
  readonly clock: Pick<Clock, "now">;
  /** Daily limits of a group, or of all groups together. */
  readonly budgetOf: (group: string | undefined) => BudgetLimits;
}

const used = {
  calls: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number().describe("Of the input: read from the vendor's prompt cache"),
  writtenInputTokens: z.number().describe("Of the input: written to it"),
  outputTokens: z.number(),
  usd: z.number(),
  unpricedCalls: z.number().describe("Calls of unknown price, which add nothing to `usd`"),
};

const usageLine = z.strictObject({
  by: z.enum(usageKinds),
  id: z.string().optional().describe("`<channel>:<id>` of a member"),
  name: z.string(),
  ...used,
});

export const usage = defineOperation<UsageNeeds>()({
  name: "usage",
  summary: "add up what model calls have used and cost, by whole days (UTC)",
  input: z.strictObject({
    by: z.enum(usageKinds).default("group").describe("group by"),
    since: z
      .string()
      .refine(isFirstDay, "write whole days such as 7d or 2w, or a date such as 2026-01-15")
      .default("7d")
      .describe("first day, in UTC: 1d is today, 7d the last seven days; or a date such as 2026-01-15"),
    group: onlyGroup,
  }),
  output: z.strictObject({
    since: z.string(),
    costs: list(usageLine),
    budget: z
      .strictObject({ usdPerDay: z.number().nullable(), tokensPerDay: z.number().nullable() })
      .describe("Of the group, or of all groups together; null: no limit"),
  }),
  may: { scope: "read", role: "member", fromMain: "member" },
  effect: "none",
  rest: "GET /costs",
  offline: true,
  cli: { shows: ({ costs }) => costs },
  chat: { form: "/usage", compose: describeUsage },
  run: async ({ store, groups, clock, budgetOf }, { by, since, group }) => {
    const { usdPerDay = null, tokensPerDay = null } = budgetOf(
      group === undefined ? undefined : requireGroup(groups.list(), group).name,
    );
    const first = firstDay(since, clock.now());
    const sums = await store.usage.sums(by, first, { group });
    return { since: first, costs: sums.map((sum) => toUsageLine(by, sum)), budget: { usdPerDay, tokensPerDay } };
  },
});

/** Operations on usage and cost. */
export const usageOperations = [usage] as const;
