/**
 * Token usage, prices, budgets and what was learned about models. In `usage_calls`, `agent` is empty for calls without
 * a turn; `member_channel` and `member_id` are empty where no member caused the calls.
 */
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
  `create table token_factors (
     model text primary key,
     factor real not null
   ) strict`,
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
] as const;
