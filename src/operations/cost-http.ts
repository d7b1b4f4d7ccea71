import type { FastifyInstance } from "fastify";
import * as z from "zod";

import type { GroupChat } from "../domain/group.ts";
import { toUsageLine, usageKinds } from "../domain/usage.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import type { Store } from "../stores/store.ts";
import { refuseInput } from "./refuse-input.ts";
import { requireGroup } from "./require-group.ts";

export interface CostHttpOptions {
  readonly store: { readonly usage: Pick<Store["usage"], "sums"> };
  readonly groups: () => readonly GroupChat[];
  readonly clock: Pick<Clock, "now">;
}

const dayMs = 86_400_000;

const filter = z.strictObject({
  by: z.enum(usageKinds).default("group"),
  since: z
    .string()
    .regex(/^(\d{4}-\d{2}-\d{2}|[1-9]\d{0,3}d)$/, "write whole days such as 7d, or a date such as 2026-01-15")
    .default("7d"),
  group: z.string().min(1).max(256).optional(),
});

/** What calls of models have used and cost, as `crabpot usage` adds it up, by whole days in UTC. */
export function addCostRoutes(routes: FastifyInstance, { store, groups, clock }: CostHttpOptions): void {
  routes.get("/v1/costs", async (request, reply) => {
    const parsed = filter.safeParse(request.query);
    if (!parsed.success) return refuseInput(reply, parsed.error);
    const { by, since, group } = parsed.data;
    if (group !== undefined) requireGroup(groups(), group);
    const first = since.endsWith("d") ? utcDay(clock.now() - (Number.parseInt(since, 10) - 1) * dayMs) : since;
    const sums = await store.usage.sums(by, first, { group });
    return reply.send({ since: first, costs: sums.map((sum) => toUsageLine(by, sum)) });
  });
}
