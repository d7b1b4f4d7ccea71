import type { Generated } from "kysely";

interface UsageDayTable {
  readonly day: string;
  readonly group_name: string;
  readonly tokens: number;
  readonly nano_usd: number;
  readonly calls: number;
}

interface UsageCallTable {
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

interface TokenFactorTable {
  readonly model: string;
  readonly factor: number;
}

interface LearnedWindowTable {
  readonly model: string;
  readonly window_tokens: number;
  readonly described: string;
  readonly learned_at: number;
}

interface BudgetWarningTable {
  readonly day: string;
  readonly budget: string;
}

interface ReservationTable {
  readonly id: Generated<number>;
  readonly day: string;
  readonly group_name: string;
  readonly tokens: number;
  readonly nano_usd: number;
}

/** Token usage, prices, budgets and what was learned about models. */
export interface UsageTables {
  readonly usage_days: UsageDayTable;
  readonly usage_calls: UsageCallTable;
  readonly token_factors: TokenFactorTable;
  readonly learned_windows: LearnedWindowTable;
  readonly budget_warnings: BudgetWarningTable;
  readonly reservations: ReservationTable;
}

export const usageSchema = [
  `create table usage_days (
     day text not null,
     group_name text not null,
     tokens integer not null,
     nano_usd integer not null,
     calls integer not null,
     primary key (day, group_name)
   ) strict`,
  `create table usage_calls (
     day text not null,
     group_name text not null,
     agent text not null,
     member_channel text not null,
     member_id text not null,
     model text not null,
     calls integer not null,
     input_tokens integer not null,
     cached_tokens integer not null default 0,
     written_tokens integer not null default 0,
     output_tokens integer not null,
     nano_usd integer not null,
     unpriced_calls integer not null,
     primary key (day, group_name, agent, member_channel, member_id, model)
   ) strict, without rowid`,
  `create table token_factors (model text primary key, factor real not null) strict`,
  `create table learned_windows (
     model text primary key,
     window_tokens integer not null,
     described text not null,
     learned_at integer not null
   ) strict`,
  `create table budget_warnings (
     day text not null,
     budget text not null,
     primary key (day, budget)
   ) strict, without rowid`,
  `create table reservations (
     id integer primary key autoincrement,
     day text not null,
     group_name text not null,
     tokens integer not null,
     nano_usd integer not null
   ) strict`,
];
