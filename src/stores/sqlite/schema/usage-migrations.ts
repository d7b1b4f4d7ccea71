/** What calls have used by what they were for; budgets count in usage_days. */
export const usageCalls = [
  `create table usage_calls (
     day text not null,
     group_name text not null,
     member_channel text not null,
     member_id text not null,
     model text not null,
     calls integer not null,
     input_tokens integer not null,
     output_tokens integer not null,
     nano_usd integer not null,
     unpriced_calls integer not null,
     primary key (day, group_name, member_channel, member_id, model)
   ) strict, without rowid`,
];

/** Budgets of a day of which it was told that much of them is used. */
export const budgetWarnings = [
  `create table budget_warnings (
     day text not null,
     budget text not null,
     primary key (day, budget)
   ) strict, without rowid`,
];

/** What estimates of prompts are multiplied by, as models have counted them. */
export const tokenFactors = [`create table token_factors (model text primary key, factor real not null) strict`];

/**
 * How large windows of models are, as their servers' refusals have told; `described`: what was known of the model then.
 */
export const learnedWindows = [
  `create table learned_windows (
     model text primary key,
     window_tokens integer not null,
     described text not null,
     learned_at integer not null
   ) strict`,
];

/** Which agent's calls they were, and what of their input came from a prompt cache or went to one. */
export const usageOfAgents = [
  `create table usage_calls_by_agent (
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
  `insert into usage_calls_by_agent
     (day, group_name, agent, member_channel, member_id, model, calls, input_tokens, output_tokens, nano_usd, unpriced_calls)
   select day, group_name, '', member_channel, member_id, model, calls, input_tokens, output_tokens, nano_usd, unpriced_calls
   from usage_calls`,
  `drop table usage_calls`,
  `alter table usage_calls_by_agent rename to usage_calls`,
];
