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
   * Replaces a reservation by the real usage. Returns the day's usage; undefined, without effect, when settled before.
   */
  settle(reservation: number, used: CallUsage): Promise<DayUse | undefined>;
  /** Correction factors for token estimates, by model. */
  tokenFactors(): Promise<ReadonlyMap<string, number>>;
  learnedWindows(): Promise<LearnedWindow[]>;
  /** In place of what was learned of the model before. */
  keepWindow(learned: LearnedWindow): Promise<void>;
  /** Forgets learned windows; with `factors` also correction factors. No effect on unknown models. */
  forgetLearned(models: readonly string[], what: { readonly factors: boolean }): Promise<void>;
  /** True the first time that it is called for a day's budget. */
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
