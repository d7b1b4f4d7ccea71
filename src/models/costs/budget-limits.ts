import type { BudgetLimits } from "../../domain/chats/group.ts";
import { type DayUse, defaultTotalUsd } from "../../domain/turns/usage.ts";
import type { Publish } from "../../domain/events/event.ts";
import { budgetWarnings, type UsageLedger } from "./budget.ts";

type Limits = { readonly [Key in keyof BudgetLimits]?: BudgetLimits[Key] };

/** The section `budgets`. */
export interface Budgets {
  readonly perGroup: Limits;
  readonly total: Limits;
  readonly warnAtPercent: number;
}

/** Limits for calls of a group. */
export interface CallLimits {
  readonly group: BudgetLimits;
  readonly total: BudgetLimits;
  /** True when the total is the default. */
  readonly isDefaultTotal: boolean;
}

/** `own`: the group's limits; those that it does not set are everybody's. */
export function callLimits({ perGroup, total }: Budgets, own: BudgetLimits): CallLimits {
  return {
    group: {
      tokensPerDay: own.tokensPerDay ?? perGroup.tokensPerDay,
      usdPerDay: own.usdPerDay ?? perGroup.usdPerDay,
    },
    total: { tokensPerDay: total.tokensPerDay, usdPerDay: total.usdPerDay },
    isDefaultTotal: total.tokensPerDay === undefined && total.usdPerDay === undefined,
  };
}

/** True when a money limit is configured. Calls of unknown price are then refused. */
export function limitsMoney({ group, total }: CallLimits): boolean {
  return group.usdPerDay !== undefined || total.usdPerDay !== undefined;
}

/** The limits of all groups together. The default is a limit in money, and says nothing of calls that have no price. */
export function totalLimits({ total, isDefaultTotal }: CallLimits, hasPrice: boolean): BudgetLimits {
  return isDefaultTotal && hasPrice ? { tokensPerDay: undefined, usdPerDay: defaultTotalUsd } : total;
}

/** Tells, once a day each, of budgets of which much is used after a call. */
export async function warnOfBudgets(
  use: DayUse,
  { group, limits, hasPrice }: { readonly group: string; readonly limits: CallLimits; readonly hasPrice: boolean },
  {
    usage,
    budgets,
    publish,
  }: {
    readonly usage: UsageLedger;
    readonly budgets: Budgets;
    readonly publish: Publish<"budget.warned">;
  },
): Promise<void> {
  const warnings = await budgetWarnings(usage, use, {
    group,
    groupLimits: limits.group,
    totalLimits: totalLimits(limits, hasPrice),
    percent: budgets.warnAtPercent,
  });
  for (const data of warnings) {
    const whose = data.limit.startsWith("group ") ? group : undefined;
    await publish({ type: "budget.warned", group: whose, actor: "host", data });
  }
}
