import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

import type { Tables } from "./tables.ts";
import { budgetWarnings, usageCalls } from "./usage-tables.ts";

/*
 * AUTOINCREMENT wherever a number is promised never to be used twice: a plain rowid is given again after its row is
 * gone. STRICT, so that a wrong type is an error at the write and not a surprise at the read.
 */
const initial = [
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

/*
 * Commands that are not carried out yet, by their message; and a row that is written over and over, to see whether writing
 * works.
 */
const commands = [
  `create table commands (
     message integer primary key references messages (seq),
     group_name text not null,
     command text not null check (command in ('stop', 'new', 'status'))
   ) strict`,
  `create index commands_by_group on commands (group_name, message)`,
  `create table write_probe (id integer primary key check (id = 1), at integer not null) strict`,
];
const outboxRetriedAt = [`alter table outbox add column retried_at integer`];
const channelState = [
  `create table channel_state (
     space text not null,
     key text not null,
     value blob not null,
     primary key (space, key)
   ) strict, without rowid`,
];

const attachments = [`alter table messages add column attachments text`];

const outboxFiles = [
  `alter table outbox add column file text`,
  `alter table outbox add column reaction text`,
  `create index outbox_with_file on outbox (created_at) where file is not null`,
];

const chatFacts = [
  `alter table chats add column title text`,
  `alter table chats add column members text`,
  `alter table chats add column gone integer not null default 0`,
];
/* The commands are copied: which ones there are is checked by the table itself. */
const chatRequests = [
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

const sentAt = [
  `alter table messages add column sent_at integer`,
  `alter table messages add column late integer not null default 0`,
];

/** Where the time of a turn went; when the channel had a message. */
const turnTimes = [`alter table turns add column times text`, `alter table outbox add column accepted_at integer`];

/*
 * What was taken in on a day, by whom the day's budgets are for; whether a message was forwarded; and which rows have lost
 * their texts because they are too old. Nothing but the day's budgets is looked up by any of it.
 */
const dailyIntakeAndRetention = [
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
const chatIdentity = [
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
const executionPoints = [
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
 * leases. A session's key began with the assistant's name, which may change: it begins with an id now. Where a group has
 * sessions of several names, the one that was used last goes on, and the others are archived.
 */
const work = [
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

/* What the model was first told in a session's conversation, and which changes it has been told since. */
const conversationPrompts = [
  `create table conversation_prompts (
     session text primary key references sessions (id),
     conversation integer not null,
     system text not null,
     told text not null
   ) strict`,
];

/* What tools the current conversation of a session was offered when it began. */
const offeredTools = [
  `create table offered_tools (
     session text primary key references sessions (id),
     conversation integer not null,
     tools text not null
   ) strict, without rowid`,
];

/* Whose message an id names, whoever sent it. */
const messageIds = [`create index messages_by_id on messages (channel, chat, id)`];
/*
 * Which steps refer to which blobs. A row for each reference, made and removed with its step: there is no count that could be
 * wrong, and a blob that a step refers to cannot be forgotten.
 */
const blobs = [
  `create table blobs (
     sha256 text primary key,
     bytes integer not null,
     mime_type text not null,
     created_at integer not null
   ) strict, without rowid`,
  `create table blob_references (
     step integer not null references steps (seq) on delete cascade,
     sha256 text not null references blobs (sha256),
     primary key (step, sha256)
   ) strict, without rowid`,
  `create index blob_references_by_blob on blob_references (sha256)`,
];

/** Every migration by name; names sort in the order in which they run, and a name that was released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001-initial": { up: (database: Kysely<Tables>) => run(database, initial) },
  "0002-commands": { up: (database: Kysely<Tables>) => run(database, commands) },
  "0003-outbox-retried-at": { up: (database: Kysely<Tables>) => run(database, outboxRetriedAt) },
  "0004-attachments": { up: (database: Kysely<Tables>) => run(database, attachments) },
  "0005-outbox-files-and-reactions": { up: (database: Kysely<Tables>) => run(database, outboxFiles) },
  "0006-chat-facts": { up: (database: Kysely<Tables>) => run(database, chatFacts) },
  "0007-chat-requests": { up: (database: Kysely<Tables>) => run(database, chatRequests) },
  "0008-sent-at": { up: (database: Kysely<Tables>) => run(database, sentAt) },
  "0009-channel-state": { up: (database: Kysely<Tables>) => run(database, channelState) },
  "0010-turn-times": { up: (database: Kysely<Tables>) => run(database, turnTimes) },
  "0011-daily-intake-and-retention": { up: (database: Kysely<Tables>) => run(database, dailyIntakeAndRetention) },
  "0012-chat-identity": { up: (database: Kysely<Tables>) => run(database, chatIdentity) },
  "0013-execution-points": { up: (database: Kysely<Tables>) => run(database, executionPoints) },
  "0014-work": { up: (database: Kysely<Tables>) => run(database, work) },
  "0015-conversation-prompts": { up: (database: Kysely<Tables>) => run(database, conversationPrompts) },
  "0016-offered-tools": { up: (database: Kysely<Tables>) => run(database, offeredTools) },
  "0017-message-ids": { up: (database: Kysely<Tables>) => run(database, messageIds) },
  "0018-blobs": { up: (database: Kysely<Tables>) => run(database, blobs) },
  "0020-usage-calls": { up: (database: Kysely<Tables>) => run(database, usageCalls) },
  "0021-budget-warnings": { up: (database: Kysely<Tables>) => run(database, budgetWarnings) },
};

async function run(database: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}
