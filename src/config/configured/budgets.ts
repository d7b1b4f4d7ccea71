import type { BudgetLimits, Group } from "../../domain/chats/group.ts";
import { totalUsdPerDay } from "../../domain/turns/usage.ts";
import type { Config } from "../schema/config.ts";

/** Daily limits of a group, or of all groups together. */
export function budgetOf({ budgets }: Pick<Config, "budgets">, group: Pick<Group, "budget"> | undefined): BudgetLimits {
  const { perGroup, total } = budgets;
  if (!group) return { usdPerDay: totalUsdPerDay(total), tokensPerDay: total.tokensPerDay };
  const { usdPerDay = perGroup.usdPerDay, tokensPerDay = perGroup.tokensPerDay } = group.budget;
  return { usdPerDay, tokensPerDay };
}
