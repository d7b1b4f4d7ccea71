import type { BudgetLimits } from "../chats/group.ts";

/**
 * US dollars a day for all groups together where the configuration has no budget in total. It holds for calls whose
 * price is known: enough for a household, and the most that a host which nobody thought about spends in a day.
 */
export const defaultTotalUsd = 5;

/** What all groups together may spend in a day, in US dollars; undefined: there is no limit in money. */
export function totalUsdPerDay(total: { readonly [Key in keyof BudgetLimits]?: BudgetLimits[Key] }):
  | number
  | undefined {
  return total.usdPerDay ?? (total.tokensPerDay === undefined ? defaultTotalUsd : undefined);
}

/** What model calls are added up by; `member`: who set the agent to work. */
export const usageKinds = ["group", "member", "model", "day", "agent"] as const;

export type UsageBy = (typeof usageKinds)[number];

/** What model calls have used. */
export interface UsageSum {
  /**
   * A group, a model, a day (UTC), an agent's id, or `<channel>:<id>` of a member; empty for calls that no member or no
   * turn's agent caused.
   */
  readonly key: string;
  /** Of a member, where it is known. */
  readonly name: string | undefined;
  readonly calls: number;
  readonly inputTokens: number;
  /** Of the input: read from the vendor's prompt cache, and written to it. */
  readonly cachedInputTokens: number;
  readonly writtenInputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Calls whose price is not known: they add nothing to `usd`. */
  readonly unpricedCalls: number;
}

/** What one model call has used, and what it was for. */
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
  /** What our estimates of the model's prompts are to be multiplied by; undefined: as before. */
  readonly tokenFactor?: number | undefined;
}

/** How large a model's window is, as far as its server has refused longer prompts. */
export interface LearnedWindow {
  /** `provider/model` */
  readonly model: string;
  readonly windowTokens: number;
  /** Of what was known of the model when this was learned: with something else it does not hold any more. */
  readonly described: string;
  /** Milliseconds since 1970. */
  readonly learnedAt: number;
}

/** What is used of a day's budgets, reservations included. */
export interface DayUse {
  readonly day: string;
  readonly group: BudgetUse;
  /** Of all groups together. */
  readonly total: BudgetUse;
}

interface BudgetUse {
  readonly tokens: number;
  readonly usd: number;
}
/** What calls of models have used and cost, as programs read it. `id`: `<channel>:<id>` of a member. */
export interface UsageLine extends Omit<UsageSum, "key" | "name"> {
  readonly by: UsageBy;
  readonly id?: string;
  readonly name: string;
}

export function toUsageLine(by: UsageBy, { key, name, ...used }: UsageSum): UsageLine {
  return { by, ...(by === "member" && { id: key }), name: name ?? key, ...used };
}
