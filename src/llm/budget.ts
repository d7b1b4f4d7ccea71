import type { BudgetLimits } from "../domain/group.ts";
import { AppError } from "../lib/app-error.ts";
import { costUsd } from "./capabilities.ts";
import type { Capability } from "./capabilities.ts";

/** The part of the usage store that budgets need. */
export interface UsageLedger {
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
  settle(reservation: number, actual: { tokens: number; usd: number }): Promise<void>;
}

export interface Reservation {
  readonly id: number;
  /** The most that the answer may have: what the model can give, or less where the budget is nearly used up. */
  readonly outputTokens: number;
  readonly reservedTokens: number;
}

/** Answers shorter than this are of no use. */
const leastOutputTokens = 512;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Reserves what a call may cost at most, before it is made. Where the day's budget has not enough left for the longest answer, a
 * shorter one is reserved; where not even that, throws `budget_exhausted` with the limit and when it ends.
 */
export async function reserveBudget(
  ledger: UsageLedger,
  call: {
    readonly group: string;
    readonly groupLimits: BudgetLimits;
    readonly totalLimits: BudgetLimits;
    readonly capability: Capability;
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Milliseconds since 1970; its UTC day is the day of the budget. */
    readonly now: number;
  },
): Promise<Reservation> {
  const { group, groupLimits, totalLimits, inputTokens } = call;
  let { outputTokens } = call;
  for (;;) {
    const tokens = inputTokens + outputTokens;
    const usd = maxCostUsd(call.capability, inputTokens, outputTokens);
    const answer = await ledger.reserve({ group, day: dayOf(call.now), tokens, usd, groupLimits, totalLimits });
    if (answer.granted) return { id: answer.reservation, outputTokens, reservedTokens: tokens };
    const affordable = affordableOutput(call.capability, inputTokens, answer);
    if (affordable < leastOutputTokens || affordable >= outputTokens) throw exhausted(answer, call.now);
    outputTokens = affordable;
  }
}

/** The UTC day, as the usage store names it. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

function maxCostUsd(capability: Capability, inputTokens: number, outputTokens: number): number {
  return costUsd(capability, { inputTokens, cachedInputTokens: 0, outputTokens }) ?? 0;
}

type Refusal = { readonly limit: string; readonly used: number; readonly allowed: number };

/** How long an answer the rest of the limit pays for. */
function affordableOutput(capability: Capability, inputTokens: number, refusal: Refusal): number {
  const left = refusal.allowed - refusal.used;
  if (!isMoney(refusal)) return Math.floor(left - inputTokens);
  const pricePerToken = maxCostUsd(capability, 0, 1);
  if (pricePerToken === 0) return 0;
  // A hair less, so that the sum does not exceed the limit by a rounding error.
  return Math.floor(((left - maxCostUsd(capability, inputTokens, 0)) / pricePerToken) * 0.999);
}

function exhausted(refusal: Refusal, now: number): AppError {
  const show = (amount: number): string =>
    isMoney(refusal) ? `${amount.toFixed(2)} US dollars` : `${Math.round(amount).toLocaleString("en-US")} tokens`;
  const resetsAt = new Date((Math.floor(now / dayMs) + 1) * dayMs).toISOString().replace(/:\d\d\.\d+Z$/, " UTC");
  return new AppError(
    "budget_exhausted",
    `The day's budget is used up: of ${show(refusal.allowed)} (${refusal.limit}), ${show(refusal.used)} are used or reserved, and what is left is not enough for this call. It starts afresh at ${resetsAt.replace("T", " ")}.`,
    { fix: "Raise the limit under budgets, or under the group's budget, in config.yaml." },
  );
}

function isMoney(refusal: Refusal): boolean {
  return /usd/i.test(refusal.limit);
}
