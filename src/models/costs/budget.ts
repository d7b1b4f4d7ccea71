import type { BudgetLimits } from "../../domain/chats/group.ts";
import { type DayUse, defaultTotalUsd } from "../../domain/turns/usage.ts";
import { AppError } from "../../lib/app-error.ts";
import { utcDay, utcDayEnd } from "../../lib/time/utc-day.ts";
import type { UsageStore } from "../../stores/contract/usage-store.ts";
import { costUsd, outputTokensOf } from "../knowledge/capabilities.ts";
import type { Capability } from "../knowledge/capabilities.ts";

/** The part of the usage store that budgets need. */
export type UsageLedger = Pick<UsageStore, "reserve" | "settle" | "warnsFirst">;

export interface Reservation {
  readonly id: number;
  /** The most that the answer may have: what the model can give, or less where the budget is nearly used up. */
  readonly outputTokens: number;
  readonly reservedTokens: number;
}

/** Answers shorter than this are of no use. */
const leastOutputTokens = 512;

export interface BudgetedCall {
  readonly group: string;
  readonly groupLimits: BudgetLimits;
  readonly totalLimits: BudgetLimits;
  /** True when the total is the default, `defaultTotalUsd`. */
  readonly isDefaultTotal: boolean;
  readonly capability: Capability;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Milliseconds since 1970; its UTC day is the day of the budget. */
  readonly now: number;
  /** Reports an exhausted or too small budget with its figures, for the operator. */
  readonly onRefused: (refusal: BudgetRefusal & { readonly needed?: number | undefined }) => void;
}

/** Amounts in tokens or US dollars, as the limit's name says. */
export interface BudgetRefusal {
  readonly limit: string;
  readonly used: number;
  readonly allowed: number;
}

/**
 * Reserves what a call may cost at most, before it is made. Where the day's budget has not enough left for the longest
 * answer, a shorter one is reserved; where not even that, throws `budget_exhausted` with the limit and when it ends.
 */
export async function reserveBudget(ledger: UsageLedger, call: BudgetedCall): Promise<Reservation> {
  const { group, groupLimits, totalLimits, inputTokens } = call;
  let { outputTokens } = call;
  for (;;) {
    const tokens = inputTokens + outputTokens;
    const usd = maxCostUsd(call.capability, inputTokens, outputTokens);
    const answer = await ledger.reserve({ group, day: utcDay(call.now), tokens, usd, groupLimits, totalLimits });
    if (answer.granted) return { id: answer.reservation, outputTokens, reservedTokens: tokens };
    const affordable = affordableOutput(call.capability, inputTokens, answer);
    if (affordable < leastOutputTokens || affordable >= outputTokens) {
      const { limit, used, allowed } = answer;
      const needed = neededWhenUnused(answer, call);
      call.onRefused({ limit, used, allowed, needed });
      throw needed === undefined ? exhausted(answer, call) : tooSmall(answer, needed);
    }
    outputTokens = affordable;
  }
}

/**
 * Reserves a price, as it is. Returns the reservation. Throws `budget_exhausted` where the day's budget has not as much
 * left.
 */
export async function reserveUsd(
  ledger: UsageLedger,
  call: Pick<BudgetedCall, "group" | "groupLimits" | "totalLimits" | "isDefaultTotal" | "now" | "onRefused"> & {
    readonly usd: number;
  },
): Promise<number> {
  const { group, groupLimits, totalLimits, usd, now } = call;
  const answer = await ledger.reserve({ group, day: utcDay(now), tokens: 0, usd, groupLimits, totalLimits });
  if (answer.granted) return answer.reservation;
  const { limit, used, allowed } = answer;
  call.onRefused({ limit, used, allowed });
  throw exhausted(answer, call);
}

/** Amounts that a call reserves: minimum, with the shortest useful answer, and with the longest. */
export function callReserve(
  capability: Capability,
  inputTokens: number,
  answer: "shortest" | "longest",
): { readonly tokens: number; readonly usd: number } {
  const longest = outputTokensOf(capability);
  const outputTokens = answer === "longest" ? longest : Math.min(longest, leastOutputTokens);
  return { tokens: inputTokens + outputTokens, usd: maxCostUsd(capability, inputTokens, outputTokens) };
}

/** Minimum need of a call that exceeds even the unused limit. */
function neededWhenUnused(refusal: BudgetRefusal, { capability, inputTokens }: BudgetedCall): number | undefined {
  const unused = affordableOutput(capability, inputTokens, { ...refusal, used: 0 });
  if (unused >= leastOutputTokens) return undefined;
  const { tokens, usd } = callReserve(capability, inputTokens, "shortest");
  return isMoney(refusal) ? usd : tokens;
}

function maxCostUsd(capability: Capability, inputTokens: number, outputTokens: number): number {
  return costUsd(capability, { inputTokens, cachedInputTokens: 0, outputTokens }) ?? 0;
}

/** Returns the longest answer that the rest of the limit pays for. */
function affordableOutput(capability: Capability, inputTokens: number, refusal: BudgetRefusal): number {
  const left = refusal.allowed - refusal.used;
  if (!isMoney(refusal)) return Math.floor(left - inputTokens);
  const pricePerToken = maxCostUsd(capability, 0, 1);
  if (pricePerToken === 0) return 0;
  // A hair less, so that the sum does not exceed the limit by a rounding error.
  return Math.floor(((left - maxCostUsd(capability, inputTokens, 0)) / pricePerToken) * 0.999);
}

/**
 * The chat reads this. What all groups use together is none of one group's business, so of the total no amount is told.
 */
function exhausted(
  refusal: BudgetRefusal,
  { now, isDefaultTotal }: Pick<BudgetedCall, "now" | "isDefaultTotal">,
): AppError {
  const { limit, allowed, used } = refusal;
  const afresh = new Date(utcDayEnd(now))
    .toISOString()
    .replace("T", " ")
    .replace(/:\d\d\.\d+Z$/, " UTC");
  const which = !isTotal(refusal)
    ? `The day's budget is used up: of ${amountOf(refusal, allowed)} (${limit}), ${amountOf(refusal, used)} are used or reserved, and what is left is not enough for this call.`
    : isDefaultTotal
      ? `The day's budget of all groups together is used up. It is the default of ${defaultTotalUsd} US dollars a day; the operator can set budgets.total.usdPerDay in config.yaml.`
      : `The day's budget of all groups together (${limit}) is used up.`;
  return new AppError("budget_exhausted", `${which} It resets at ${afresh}.`, { fix: raiseLimit });
}

/** Waiting does not help here. */
function tooSmall(refusal: BudgetRefusal, needed: number): AppError {
  const { limit, allowed } = refusal;
  const which = isTotal(refusal)
    ? `The day's budget of all groups together (${limit}) is too small for this call`
    : `The day's budget of ${amountOf(refusal, allowed)} (${limit}) is too small: this call needs at least ${amountOf(refusal, needed)}`;
  return new AppError(
    "budget_exhausted",
    `${which}. /new begins a shorter conversation, or the operator raises the limit in config.yaml.`,
    { fix: raiseLimit },
  );
}

const raiseLimit = "Raise the limit under budgets, or under the group's budget, in config.yaml.";

function amountOf(refusal: BudgetRefusal, amount: number): string {
  return isMoney(refusal) ? usdInWords(amount) : formatTokens(amount);
}

/** `0.05 US dollars` */
export function usdInWords(amount: number): string {
  return `${amount.toFixed(amount > 0 && amount < 0.01 ? 6 : 2)} US dollars`;
}

/** `1,500 tokens` */
export function formatTokens(amount: number): string {
  return `${Math.round(amount).toLocaleString("en-US")} tokens`;
}

function isMoney({ limit }: BudgetRefusal): boolean {
  return /usd/i.test(limit);
}

function isTotal({ limit }: BudgetRefusal): boolean {
  return limit.startsWith("total ");
}

/** A budget of which much is used: its limit, such as `group usdPerDay`, with amounts in US dollars or tokens. */
export type BudgetWarning = BudgetRefusal;

/** Budgets of which at least so much is used, each once a day. */
export async function budgetWarnings(
  ledger: UsageLedger,
  use: DayUse,
  budgets: {
    readonly group: string;
    readonly groupLimits: BudgetLimits;
    readonly totalLimits: BudgetLimits;
    readonly percent: number;
  },
): Promise<BudgetWarning[]> {
  const { group, groupLimits, totalLimits, percent } = budgets;
  const limits = [
    { limit: "group tokensPerDay", used: use.group.tokens, allowed: groupLimits.tokensPerDay },
    { limit: "group usdPerDay", used: use.group.usd, allowed: groupLimits.usdPerDay },
    { limit: "total tokensPerDay", used: use.total.tokens, allowed: totalLimits.tokensPerDay },
    { limit: "total usdPerDay", used: use.total.usd, allowed: totalLimits.usdPerDay },
  ];
  const warnings: BudgetWarning[] = [];
  for (const { limit, used, allowed } of limits) {
    if (percent === 0 || allowed === undefined || used * 100 < allowed * percent) continue;
    const budget = limit.startsWith("group ") ? `${group} ${limit}` : limit;
    if (await ledger.warnsFirst(use.day, budget)) warnings.push({ limit, used, allowed });
  }
  return warnings;
}
