import * as z from "zod";

import type { GroupChat } from "../../domain/chats/group.ts";
import { toUsageLine, usageKinds, type UsageSum } from "../../domain/turns/usage.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { list, name, schemaOf } from "../definition/schemas.ts";

/** The parts that know what models have used. */
export interface UsageNeeds {
  readonly store: { readonly usage: Pick<Store["usage"], "sums"> };
  readonly groups: { list(): readonly GroupChat[] };
  readonly clock: Pick<Clock, "now">;
}

const dayMs = 86_400_000;
/** The last moment that a date can stand for. */
const maxDateMs = 8.64e15;

const used = {
  calls: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number().describe("Of the input: read from the vendor's prompt cache"),
  writtenInputTokens: z.number().describe("Of the input: written to it"),
  outputTokens: z.number(),
  usd: z.number(),
  unpricedCalls: z.number().describe("Calls of unknown price, which add nothing to `usd`"),
};

const usageSum = schemaOf<UsageSum>(
  z.strictObject({
    key: z.string(),
    name: z.string().optional(),
    ...used,
  }),
);

const usageLine = z.strictObject({
  by: z.enum(usageKinds),
  id: z.string().optional().describe("`<channel>:<id>` of a member"),
  name: z.string(),
  ...used,
});

export const usage = defineOperation<UsageNeeds>()({
  name: "usage",
  summary: "add up what model calls have used since a moment, by whole days (UTC)",
  input: z.strictObject({
    by: z.enum(usageKinds).default("group"),
    since: z.coerce.number().int().min(0).max(maxDateMs),
    group: name.optional(),
  }),
  output: list(usageSum),
  may: { scope: "read" },
  effect: "none",
  offline: true,
  run: ({ store, groups }, { by, since, group }) => {
    if (group !== undefined) requireGroup(groups.list(), group);
    return store.usage.sums(by, utcDay(since), { group });
  },
});

export const listCosts = defineOperation<UsageNeeds>()({
  name: "costs.list",
  summary: "add up what model calls have used and cost, by whole days (UTC)",
  input: z.strictObject({
    by: z.enum(usageKinds).default("group"),
    since: z
      .string()
      .regex(/^(\d{4}-\d{2}-\d{2}|[1-9]\d{0,3}d)$/, "write whole days such as 7d, or a date such as 2026-01-15")
      .default("7d"),
    group: name.optional(),
  }),
  output: z.strictObject({ since: z.string(), costs: list(usageLine) }),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /costs",
  cli: "none",
  run: async ({ store, groups, clock }, { by, since, group }) => {
    if (group !== undefined) requireGroup(groups.list(), group);
    const first = since.endsWith("d") ? utcDay(clock.now() - (Number.parseInt(since, 10) - 1) * dayMs) : since;
    const sums = await store.usage.sums(by, first, { group });
    return { since: first, costs: sums.map((sum) => toUsageLine(by, sum)) };
  },
});

/** Operations on usage and cost. */
export const usageOperations = [usage, listCosts] as const;
