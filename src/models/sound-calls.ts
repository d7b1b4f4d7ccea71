import type { Logger } from "pino";

import type { BudgetLimits } from "../domain/chats/group.ts";
import type { Publish } from "../domain/events/event.ts";
import { AppError } from "../lib/app-error.ts";
import { reserveUsd, type UsageLedger } from "./costs/budget.ts";
import { type Budgets, callLimits, limitsMoney, totalLimits, warnOfBudgets } from "./costs/budget-limits.ts";
import { type SoundAmount, type SoundPrice, soundPriceOf, soundUsd } from "./costs/sound-price.ts";

export interface SoundCallsOptions {
  /** Current settings. */
  readonly settings: () => {
    readonly models: Parameters<typeof soundPriceOf>[0];
    readonly budgets: Budgets;
  };
  readonly usage: UsageLedger;
  readonly now: () => number;
  readonly logger: Pick<Logger, "warn">;
  readonly publish: Publish<"budget.warned">;
}

/** A call of a model that speaks or hears. */
export interface SoundCall {
  readonly group: string;
  readonly groupBudget: BudgetLimits;
  /** The turn that the call is for; undefined: none. */
  readonly turn?: string | undefined;
  /** `provider/model` */
  readonly model: string;
  /** Maximum amount. */
  readonly most: SoundAmount;
}

/** Reservation for a call. */
export interface PaidSound {
  /** Ends the reservation. `seconds`: duration of the sound; undefined when unknown, then the maximum is charged. */
  settle(seconds: number | undefined): Promise<void>;
  /** Nothing came of the call, and nothing is paid for it. */
  giveBack(): Promise<void>;
}

/** Calls of models that speak or hear, paid from the day's budgets like those of others; they have no tokens. */
export class SoundCalls {
  readonly #options: SoundCallsOptions;

  constructor(options: SoundCallsOptions) {
    this.#options = options;
  }

  /**
   * Puts aside what the call costs at most, before it is made. A host that dies before it is settled has spent it.
   * Throws AppError: `budget_exhausted`; `model_unavailable` where there is a limit in money and no price.
   */
  async reserve({ group, groupBudget, turn, model, most }: SoundCall): Promise<PaidSound> {
    const { settings, usage, now, logger, publish } = this.#options;
    const { models, budgets } = settings();
    const price = soundPriceOf(models, model);
    const limits = callLimits(budgets, groupBudget);
    if (price === undefined && limitsMoney(limits)) throw unpriced(model);
    const hasPrice = price !== undefined;
    const reservation = await reserveUsd(usage, {
      group,
      groupLimits: limits.group,
      totalLimits: totalLimits(limits, hasPrice),
      isDefaultTotal: limits.isDefaultTotal,
      usd: priceOf(price, most) ?? 0,
      now: now(),
      onRefused: (refusal) => logger.warn({ group, model, ...refusal }, "the day's budget is used up"),
    });
    const settle = async (usd: number | undefined): Promise<void> => {
      const use = await usage.settle(reservation, { model, turn, inputTokens: 0, outputTokens: 0, usd });
      if (use) await warnOfBudgets(use, { group, limits, hasPrice }, { usage, budgets, publish });
    };
    return {
      settle: (seconds = most.seconds) => settle(priceOf(price, { ...most, seconds })),
      giveBack: () => settle(0),
    };
  }
}

function priceOf(price: SoundPrice | undefined, amount: SoundAmount): number | undefined {
  return price && soundUsd(price, amount);
}

function unpriced(model: string): AppError {
  return new AppError(
    "model_unavailable",
    `There is a budget in US dollars, but the price of ${model} is not known; the operator can set spokenUsd or minuteUsd under models.capabilities["${model}"].`,
  );
}
