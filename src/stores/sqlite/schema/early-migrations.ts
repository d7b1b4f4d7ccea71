/*
 * The statements of the migrations up to 0014, in the order in which they run.
 */

/*
 * Commands that are not carried out yet, by their message; and a row that is written over and over, to see whether
 * writing works.
 */
export const commands = [
  `create table commands (
     message integer primary key references messages (seq),
     group_name text not null,
     command text not null check (command in ('stop', 'new', 'status'))
   ) strict`,
  `create index commands_by_group on commands (group_name, message)`,
  `create table write_probe (id integer primary key check (id = 1), at integer not null) strict`,
];
export const outboxRetriedAt = [`alter table outbox add column retried_at integer`];
export const channelState = [
  `create table channel_state (
     space text not null,
     key text not null,
     value blob not null,
     primary key (space, key)
   ) strict, without rowid`,
];

export const attachments = [`alter table messages add column attachments text`];

export const outboxFiles = [
  `alter table outbox add column file text`,
  `alter table outbox add column reaction text`,
  `create index outbox_with_file on outbox (created_at) where file is not null`,
];

export const chatFacts = [
  `alter table chats add column title text`,
  `alter table chats add column members text`,
  `alter table chats add column gone integer not null default 0`,
];
/* The commands are copied: which ones there are is checked by the table itself. */
export const chatRequests = [
  `create table chat_requests (
     code text primary key,
     channel text not null,
     chat text not null,
     title text,
     sender_id text not null,
     sender_name text not null,
     state text not null check (state in ('requested', 'denied')),
     at integer not null,
     unique (channel, chat)
   ) strict`,
  `create table commands_with_arguments (
     message integer primary key references messages (seq),
     group_name text not null,
     command text not null check (command in ('stop', 'new', 'status', 'approve', 'deny')),
     argument text
   ) strict`,
  `insert into commands_with_arguments select message, group_name, command, null from commands`,
  `drop table commands`,
  `alter table commands_with_arguments rename to commands`,
  `create index commands_by_group on commands (group_name, message)`,
];

export const sentAt = [
  `alter table messages add column sent_at integer`,
  `alter table messages add column late integer not null default 0`,
];

/** Where the time of a turn went; when the channel had a message. */
export const turnTimes = [
  `alter table turns add column times text`,
  `alter table outbox add column accepted_at integer`,
];

/*
 * What was taken in on a day, by whom the day's budgets are for; whether a message was forwarded; and which rows have
 * lost their texts because they are too old. Nothing but the day's budgets is looked up by any of it.
 */
export const dailyIntakeAndRetention = [
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
  `alter table messages add column forwarded integer not null default 0`,
  `alter table messages add column pruned integer not null default 0`,
  `alter table outbox add column pruned integer not null default 0`,
];

/* Whose a group's folder and messages are; how far the audit log may be signed. */
export const chatIdentity = [
  `create table group_folders (
     name text primary key,
     channel text not null,
     chat text not null,
     instructions text,
     instructions_bytes integer,
     instructions_changed_at integer
   ) strict`,
  `insert into group_folders (name, channel, chat) select name, channel, chat from groups`,
  `drop index messages_by_group`,
  `create index messages_by_group on messages (group_name, channel, chat, seq) where state <> 'handled'`,
  `drop index messages_waiting`,
  `create index messages_waiting on messages (group_name, channel, chat, seq) where state = 'waiting'`,
  `create table audit_signed (id integer primary key check (id = 1), seq integer not null) strict`,
];

/* What of a group's mounts a turn changed that the operator's own programs would run. */
export const executionPoints = [
  `create table execution_points (
     seq integer primary key autoincrement,
     turn text not null references turns (id),
     at integer not null,
     target text not null,
     path text not null,
     kind text not null,
     change text not null check (change in ('added', 'changed', 'removed'))
   ) strict`,
  `create index execution_points_by_turn on execution_points (turn, seq)`,
];

/*
 * Work beside messages; turns know why they began and where their answers go; sessions beside a group's main one, and
 * leases. A session's key began with the assistant's name, which may change: it begins with an id now. Where a group
 * has sessions of several names, the one that was used last goes on, and the others are archived.
 */
export const work = [
  `create table work (
     seq integer primary key autoincrement,
     id text not null unique,
     group_name text not null,
     session text not null references sessions (id),
     cause text not null check (cause in ('schedule', 'heartbeat', 'webhook', 'job-ended', 'approval', 'agent', 'api')),
     due_at integer not null,
     dedupe text unique,
     reply_to text not null,
     origin text not null,
     requester text,
     text text not null,
     state text not null check (state in ('due', 'taken', 'settled', 'dropped')),
     turn text,
     reason text,
     created_at integer not null
   ) strict`,
  `create index work_due on work (due_at) where state = 'due'`,
  `create index work_due_by_session on work (session, due_at, seq) where state = 'due'`,
  `create index work_by_group on work (group_name, seq)`,
  `create index work_by_turn on work (turn) where turn is not null`,

  `alter table turns add column cause text not null default 'message'`,
  `alter table turns add column reply_to text not null default '{"kind":"nowhere"}'`,
  `update turns set reply_to = coalesce(
     (select json_object('kind', 'chat', 'channel', messages.channel, 'chat', messages.chat)
      from messages where messages.turn = turns.id limit 1), reply_to) where state = 'running'`,
  `create index turns_running_by_session on turns (session) where state = 'running'`,

  `alter table sessions add column kind text not null default 'main'`,
  `alter table sessions add column parent text`,
  `alter table sessions add column archived_at integer`,
  `alter table sessions add column lease_owner text`,
  `alter table sessions add column lease_generation integer not null default 0`,
  `alter table sessions add column lease_expires_at integer not null default 0`,
  `update sessions set archived_at = unixepoch() * 1000, key = 'archived:' || id where id in (
     select id from (
       select id, row_number() over (
         partition by substr(key, instr(key, ':'))
         order by (select coalesce(max(turns.seq), 0) from turns where turns.session = sessions.id) desc, key
       ) as place from sessions)
     where place > 1)`,
  `update sessions set key = 'main' || substr(key, instr(key, ':')) where archived_at is null`,
];
