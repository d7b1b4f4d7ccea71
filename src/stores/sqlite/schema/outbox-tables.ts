/** Outgoing messages and the state of channels. */
export const outboxSchema = [
  `create table outbox (
     seq integer primary key autoincrement,
     group_name text not null,
     channel text not null,
     chat text not null,
     kind text not null check (kind in ('reply', 'notice')),
     text text not null,
     in_reply_to text not null,
     turn text,
     elapsed_ms real,
     state text not null check (state in ('queued', 'sending', 'accepted', 'delivered', 'uncertain', 'dead')),
     attempts integer not null,
     error text,
     created_at integer not null,
     retried_at integer,
     file text,
     reaction text,
     accepted_at integer,
     pruned integer not null default 0,
     thread text,
     agent text
   ) strict`,
  `create index outbox_unsent on outbox (seq) where state in ('queued', 'sending', 'uncertain')`,
  `create index outbox_by_channel on outbox (channel, seq)`,
  `create index outbox_by_turn on outbox (turn) where turn is not null`,
  `create index outbox_by_state on outbox (state)`,
  `create index outbox_with_file on outbox (created_at) where file is not null`,
  `create index outbox_said on outbox (group_name, seq) where kind = 'reply'`,
  `create table channel_state (
     space text not null,
     key text not null,
     value blob not null,
     primary key (space, key)
   ) strict, without rowid`,
] as const;
