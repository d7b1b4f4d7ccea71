import type { Generated } from "kysely";

export interface UsageDayTable {
  readonly day: string;
  readonly group_name: string;
  readonly tokens: number;
  readonly nano_usd: number;
  readonly calls: number;
}

export interface UsageCallTable {
  readonly day: string;
  readonly group_name: string;
  /** Empty where the calls were for no turn, or where it was not kept at that time. */
  readonly agent: string;
  /** Both are empty where no member caused the calls. */
  readonly member_channel: string;
  readonly member_id: string;
  readonly model: string;
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly written_tokens: number;
  readonly output_tokens: number;
  readonly nano_usd: number;
  readonly unpriced_calls: number;
}

export interface TokenFactorTable {
  readonly model: string;
  readonly factor: number;
}

export interface LearnedWindowTable {
  readonly model: string;
  readonly window_tokens: number;
  readonly described: string;
  readonly learned_at: number;
}

export interface BudgetWarningTable {
  readonly day: string;
  readonly budget: string;
}

export interface ReservationTable {
  readonly id: Generated<number>;
  readonly day: string;
  readonly group_name: string;
  readonly tokens: number;
  readonly nano_usd: number;
}
