import type { BudgetLimits } from "../../domain/chats/group.ts";
import type { CallUsage, DayUse, LearnedWindow, UsageBy, UsageSum } from "../../domain/turns/usage.ts";

/**
 * Day budgets. A reservation counts in full until it is settled; one left open by a crash counts in full for its day.
 */
export interface UsageStore {
  /** Reserves if both the group's and everybody's limits for the day allow it; otherwise says which one does not. */
  reserve(request: {
    group: string;
    day: string;
    tokens: number;
    usd: number;
    groupLimits: BudgetLimits;
    totalLimits: BudgetLimits;
  }): Promise<
    { granted: true; reservation: number } | { granted: false; limit: string; used: number; allowed: number }
  >;
  /**
   * What the call has really used takes the place of the reservation. Returns what is used of the day after that;
   * undefined, and no effect, for a reservation that was settled before.
   */
  settle(reservation: number, used: CallUsage): Promise<DayUse | undefined>;
  /** What our estimates of prompts are multiplied by, for each model of which that is known. */
  tokenFactors(): Promise<ReadonlyMap<string, number>>;
  learnedWindows(): Promise<LearnedWindow[]>;
  /** In place of what was learned of the model before. */
  keepWindow(learned: LearnedWindow): Promise<void>;
  /**
   * What was learned of windows goes; with `factors` also what estimates are multiplied by. Without effect for models
   * of which nothing was.
   */
  forgetLearned(models: readonly string[], what: { readonly factors: boolean }): Promise<void>;
  /** True the first time that this is asked of a day's budget. */
  warnsFirst(day: string, budget: string): Promise<boolean>;
  ofDay(day: string): Promise<{ group: string; tokens: number; usd: number; calls: number }[]>;
  /**
   * Settled calls from this day (UTC) on, as far as `until` (that day included) and of one group, where asked; the
   * dearest first, days in order.
   */
  sums(
    by: UsageBy,
    since: string,
    within?: { readonly until?: string | undefined; readonly group?: string | undefined },
  ): Promise<UsageSum[]>;
}
