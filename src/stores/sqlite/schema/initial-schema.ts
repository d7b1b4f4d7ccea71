/**
 * The tables of the first version; never changed, as migrations are what changes them. AUTOINCREMENT wherever a number
 * is promised never to be used twice: a plain rowid is given again after its row is gone. STRICT, so that a wrong type
 * is an error at the write and not a surprise at the read.
 */
export const initialSchema: readonly string[] = [
  `create table messages (
     seq integer primary key autoincrement,
     group_name text not null,
     channel text not null,
     chat text not null,
     id text not null,
     sender_id text not null,
     sender_name text not null,
     text text not null,
     quote text,
     state text not null check (state in ('context', 'waiting', 'taken', 'answered', 'handled')),
     turn text,
     received_at integer not null,
     unique (channel, chat, sender_id, id)
   ) strict`,
  `create index messages_by_group on messages (group_name, seq) where state <> 'handled'`,
  `create index messages_waiting on messages (group_name, seq) where state = 'waiting'`,
  `create index messages_by_turn on messages (turn, seq) where turn is not null`,

  `create table groups (
     name text primary key,
     channel text not null,
     chat text not null,
     settings text not null,
     unique (channel, chat)
   ) strict`,
  `create table ordinals (group_name text primary key, ordinal integer not null unique) strict`,

  `create table chats (
     channel text not null,
     chat text not null,
     group_name text,
     first_seen_at integer not null,
     last_seen_at integer not null,
     messages integer not null,
     primary key (channel, chat)
   ) strict`,
  `create index chats_by_last_seen on chats (last_seen_at)`,
  `create table members (
     group_name text not null,
     sender_id text not null,
     name text not null,
     seen_at integer not null,
     primary key (group_name, sender_id)
   ) strict`,

  `create table sessions (
     id text primary key,
     key text not null unique,
     group_name text not null,
     conversation integer not null,
     generation integer not null,
     context_cursor integer not null,
     window_start integer not null,
     mailbox_block integer not null
   ) strict`,

  `create table turns (
     seq integer primary key autoincrement,
     id text not null unique,
     group_name text not null,
     session text not null references sessions (id),
     conversation integer not null,
     state text not null check (state in ('running', 'done', 'failed', 'cancelled')),
     attempts integer not null,
     started_at integer not null,
     ended_at integer,
     reason text
   ) strict`,
  `create index turns_by_group on turns (group_name, seq)`,
  `create index turns_running on turns (seq) where state = 'running'`,

  `create table steps (
     seq integer primary key autoincrement,
     turn text not null references turns (id),
     session text not null,
     conversation integer not null,
     at integer not null,
     tokens integer not null,
     body text not null
   ) strict`,
  `create index steps_by_turn on steps (turn, seq)`,
  `create index steps_by_conversation on steps (session, conversation, seq)`,

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
     created_at integer not null
   ) strict`,
  `create index outbox_unsent on outbox (seq) where state in ('queued', 'sending', 'uncertain')`,
  `create index outbox_by_channel on outbox (channel, seq)`,
  `create index outbox_by_turn on outbox (turn) where turn is not null`,
  `create index outbox_by_state on outbox (state)`,

  `create table usage_days (
     day text not null,
     group_name text not null,
     tokens integer not null,
     nano_usd integer not null,
     calls integer not null,
     primary key (day, group_name)
   ) strict`,
  `create table reservations (
     id integer primary key autoincrement,
     day text not null,
     group_name text not null,
     tokens integer not null,
     nano_usd integer not null
   ) strict`,

  `create table audit_records (
     seq integer primary key,
     hash text not null,
     type text not null,
     group_name text,
     file text not null
   ) strict`,
];
