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
