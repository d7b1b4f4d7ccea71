import type { BudgetLimits } from "../chats/group.ts";

/**
 * US dollars a day for all groups together where the configuration has no budget in total. It holds for calls whose
 * price is known: enough for a household, and the most that a host which nobody thought about spends in a day.
 */
export const defaultTotalUsd = 5;

/** Returns the daily US dollar limit of all groups together; undefined when unlimited. */
export function totalUsdPerDay(total: { readonly [Key in keyof BudgetLimits]?: BudgetLimits[Key] }):
  | number
  | undefined {
  return total.usdPerDay ?? (total.tokensPerDay === undefined ? defaultTotalUsd : undefined);
}

/** Groupings of usage; `member`: who asked the agent. */
export const usageKinds = ["group", "member", "model", "day", "agent"] as const;

export type UsageBy = (typeof usageKinds)[number];

/** Usage of model calls, summed up. */
export interface UsageSum {
  /**
   * A group, a model, a day (UTC), an agent's id, or `<channel>:<id>` of a member; empty for calls that no member or no
   * turn's agent caused.
   */
  readonly key: string;
  /** Name of the member, if known. */
  readonly name: string | undefined;
  readonly calls: number;
  readonly inputTokens: number;
  /** Input tokens read from the vendor's prompt cache. */
  readonly cachedInputTokens: number;
  readonly writtenInputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Calls whose price is not known: they add nothing to `usd`. */
  readonly unpricedCalls: number;
}

/** Usage and purpose of one model call. */
export interface CallUsage {
  readonly model: string;
  /** The first message of this turn says whose call it was. */
  readonly turn: string | undefined;
  readonly inputTokens: number;
  readonly cachedInputTokens?: number | undefined;
  readonly writtenInputTokens?: number | undefined;
  readonly outputTokens: number;
  /** Undefined: the price is not known. */
  readonly usd: number | undefined;
  /** Correction factor for our token estimates of this model; undefined: unchanged. */
  readonly tokenFactor?: number | undefined;
}

/** Size of a model's window, learned from refused prompts. */
export interface LearnedWindow {
  /** `provider/model` */
  readonly model: string;
  readonly windowTokens: number;
  /** Description of the model when this was learned; invalid once it changes. */
  readonly described: string;
  /** Milliseconds since 1970. */
  readonly learnedAt: number;
}

/** Use of a day's budgets, reservations included. */
export interface DayUse {
  readonly day: string;
  readonly group: BudgetUse;
  /** All groups together. */
  readonly total: BudgetUse;
}

interface BudgetUse {
  readonly tokens: number;
  readonly usd: number;
}
/** Usage and cost of model calls for programs. `id`: `<channel>:<id>` of a member. */
export interface UsageLine extends Omit<UsageSum, "key" | "name"> {
  readonly by: UsageBy;
  readonly id?: string | undefined;
  readonly name: string;
}

export function toUsageLine(by: UsageBy, { key, name, ...used }: UsageSum): UsageLine {
  return { by, ...(by === "member" && { id: key }), name: name ?? key, ...used };
}
