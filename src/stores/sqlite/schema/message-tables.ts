/** Messages, the commands among them, and daily intake. */
export const messageSchema = [
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
     attachments text,
     sent_at integer,
     late integer not null default 0,
     forwarded integer not null default 0,
     pruned integer not null default 0,
     thread text,
     agent text,
     copy_of integer,
     unique (channel, chat, sender_id, id)
   ) strict`,
  `create index messages_by_turn on messages (turn, seq) where turn is not null`,
  `create index messages_by_group on messages (group_name, channel, chat, seq) where state <> 'handled'`,
  `create index messages_waiting on messages (group_name, channel, chat, seq) where state = 'waiting'`,
  `create index messages_by_id on messages (channel, chat, id)`,
  `create table commands (
     message integer primary key references messages (seq),
     group_name text not null,
     command text not null,
     argument text
   ) strict`,
  `create index commands_by_group on commands (group_name, message)`,
  `create table intake_days (
     day text not null,
     kind text not null check (kind in ('group', 'member', 'auto-register')),
     name text not null,
     messages integer not null,
     bytes integer not null,
     attachment_bytes integer not null,
     told integer not null default 0,
     primary key (day, kind, name)
   ) strict, without rowid`,
] as const;
