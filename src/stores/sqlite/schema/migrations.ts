import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

import { initialSchema } from "./initial-schema.ts";
import type { Tables } from "./tables.ts";

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

/* Which commands there are is the catalog's business: the copy has no list of them. */
const anyCommand = [
  `create table commands_by_name (
     message integer primary key references messages (seq),
     group_name text not null,
     command text not null,
     argument text
   ) strict`,
  `insert into commands_by_name select message, group_name, command, argument from commands`,
  `drop table commands`,
  `alter table commands_by_name rename to commands`,
  `create index commands_by_group on commands (group_name, message)`,
];

/* What calls have used by what they were for; budgets count in usage_days. */
const usageCalls = [
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

/* Budgets of a day of which it was told that much of them is used. */
const budgetWarnings = [
  `create table budget_warnings (
     day text not null,
     budget text not null,
     primary key (day, budget)
   ) strict, without rowid`,
];

/* Which settings changed, and the settings that hold, to see what changes while no host runs. Values are JSON without secrets. */
const settingsHistory = [
  `create table settings_history (
     id integer primary key autoincrement,
     at integer not null,
     actor text not null,
     via text not null,
     path text not null,
     before text,
     after text
   ) strict`,
  `create table settings_applied (
     id integer primary key check (id = 1),
     settings text not null
   ) strict`,
];

/*
 * A stored group had a copy of the policy and the budget of everybody; which of them are only that, the host finds out when it next starts
 * and knows the configuration.
 */
const groupSettingsWritten = [`update groups set settings = json_set(settings, '$.copied', json('true'))`];

/** Every migration by name; names sort in the order in which they run, and a name that was released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001-initial": { up: (database: Kysely<Tables>) => run(database, initialSchema) },
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
  "0019-any-command": { up: (database: Kysely<Tables>) => run(database, anyCommand) },
  "0020-usage-calls": { up: (database: Kysely<Tables>) => run(database, usageCalls) },
  "0021-budget-warnings": { up: (database: Kysely<Tables>) => run(database, budgetWarnings) },
  "0029-settings-history": { up: (database: Kysely<Tables>) => run(database, settingsHistory) },
  "0030-group-settings-written": { up: (database: Kysely<Tables>) => run(database, groupSettingsWritten) },
};

async function run(database: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}
