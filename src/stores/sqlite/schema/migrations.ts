import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

import {
  attachments,
  channelState,
  chatFacts,
  chatIdentity,
  chatRequests,
  commands,
  dailyIntakeAndRetention,
  executionPoints,
  outboxFiles,
  outboxRetriedAt,
  sentAt,
  turnTimes,
  work,
} from "./early-migrations.ts";
import { erasures } from "./erasure-tables.ts";
import { initialSchema } from "./initial-schema.ts";
import { standingQuestionTables } from "./standing-questions.ts";
import { compactionRequests, summaries } from "./summary-tables.ts";
import { budgetWarnings, learnedWindows, tokenFactors, usageCalls, usageOfAgents } from "./usage-migrations.ts";
import { subAgentNumbers, subAgents } from "./sub-agent-tables.ts";
import type { Tables } from "./tables.ts";
import { taskRunsByWork, tasks } from "./task-tables.ts";

/* What the model was first told in a session's conversation, and which changes it has been told since. */
const conversationPrompts = [
  `create table conversation_prompts (
     session text primary key references sessions (id),
     conversation integer not null,
     system text not null,
     told text not null
   ) strict`,
];

/* What each section of it has, in tokens; null where an earlier version made it. */
const promptSections = [`alter table conversation_prompts add column sections text`];

/* What tools the current conversation of a session was offered when it began. */
const offeredTools = [
  `create table offered_tools (
     session text primary key references sessions (id),
     conversation integer not null,
     tools text not null
   ) strict, without rowid`,
];

/* What the agent of a group has said, in order. */
const outboxSaid = [`create index outbox_said on outbox (group_name, seq) where kind = 'reply'`];

/* Whose message an id names, whoever sent it. */
const messageIds = [`create index messages_by_id on messages (channel, chat, id)`];
/*
 * Which steps refer to which blobs. A row for each reference, made and removed with its step: there is no count that
 * could be wrong, and a blob that a step refers to cannot be forgotten.
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

/* Direct chats ask by a code that is valid for an hour; wrong codes are counted where they were typed. */
const pairing = [
  `alter table chat_requests add column kind text not null default 'admission' check (kind in ('admission', 'pairing'))`,
  `create table code_tries (
     place text primary key,
     wrong integer not null,
     message integer not null,
     at integer not null
   ) strict, without rowid`,
];

/*
 * What turns have read, what the folders of groups carry of it, and what work brings along. What was read before is not
 * known: turns of that time have no origins, and folders of that time count as if anything were in them.
 */
const turnOrigins = [
  `alter table turns add column origins text`,
  `create index turns_by_session on turns (session, seq)`,
  `alter table work add column origins text`,
  `create table folder_origins (
     group_name text not null,
     origin text not null,
     since integer not null,
     turn text,
     primary key (group_name, origin)
   ) strict, without rowid`,
  `insert into folder_origins (group_name, origin, since)
     select name, value, unixepoch() * 1000 from group_folders, json_each('["guest","file","web"]')`,
];

/*
 * Calls that people are asked about, who has allowed them so far, and what they allowed for longer. They go with their
 * steps; what was allowed for longer stays.
 */
const approvals = [
  `create table approvals (
     code text primary key,
     group_name text not null,
     channel text not null,
     chat text not null,
     session text not null references sessions (id),
     conversation integer not null,
     turn text not null references turns (id),
     step integer not null references steps (seq) on delete cascade,
     call_id text not null,
     position integer not null,
     tool text not null,
     input text not null,
     sha256 text not null,
     risk text not null check (risk in ('low', 'medium', 'high')),
     rule text not null,
     asker_id text not null,
     asker_name text not null,
     asker_role text not null,
     approvers text not null,
     quorum integer not null,
     asked_at integer not null,
     expires_at integer not null,
     state text not null check (state in ('open', 'allowed', 'denied', 'expired', 'cancelled')),
     scope text check (scope in ('once', 'session', 'day', 'always')),
     decided_at integer,
     decider_actor text,
     decider_name text,
     decider_role text,
     reason text,
     released_at integer,
     card integer not null,
     told integer not null default 0,
     recorded integer not null default 0,
     unique (step, call_id)
   ) strict`,
  `create index approvals_by_turn on approvals (turn, step, position)`,
  `create index approvals_by_card on approvals (card)`,
  `create index approvals_open on approvals (asked_at) where state = 'open'`,
  `create index approvals_unrecorded on approvals (asked_at) where recorded = 0`,
  `create table approval_votes (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     scope text not null,
     at integer not null,
     primary key (code, person)
   ) strict, without rowid`,
  `create table grants (
     id text primary key,
     code text not null,
     group_name text not null,
     session text not null,
     conversation integer not null,
     tool text not null,
     input text not null,
     sha256 text not null,
     scope text not null check (scope in ('session', 'day', 'always')),
     given_by text not null,
     at integer not null,
     expires_at integer,
     revoked_at integer
   ) strict, without rowid`,
  `create index grants_by_call on grants (group_name, sha256) where revoked_at is null`,
];

/*
 * Which settings changed, and the settings that hold, to see what changes while no host runs. Values are JSON without
 * secrets.
 */
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
 * A stored group had a copy of the policy and the budget of everybody; which of them are only that, the host finds out
 * when it next starts and knows the configuration.
 */
const groupSettingsWritten = [`update groups set settings = json_set(settings, '$.copied', json('true'))`];

/* The instructions of a group are in several files. */
const instructionsByFile = [
  `create table group_instructions (
     group_name text not null references group_folders (name),
     file text not null,
     sha256 text not null,
     bytes integer not null,
     changed_at integer,
     primary key (group_name, file)
   ) strict, without rowid`,
  `insert into group_instructions (group_name, file, sha256, bytes, changed_at)
     select name, 'AGENTS.md', instructions, coalesce(instructions_bytes, 0), instructions_changed_at
     from group_folders where instructions is not null`,
  `alter table group_folders drop column instructions`,
  `alter table group_folders drop column instructions_bytes`,
  `alter table group_folders drop column instructions_changed_at`,
];

/* In which thread of its chat a message was said, or goes out. */
const threads = [`alter table messages add column thread text`, `alter table outbox add column thread text`];

/*
 * What a call would change in a file of the operator's, of which bytes, and what became of it. Which turns have asked
 * people: most have not, and end without a look at approvals.
 */
const proposedChanges = [
  `alter table approvals add column diff text`,
  `alter table approvals add column base text`,
  `alter table approvals add column outcome text
     check (outcome in ('writing', 'written', 'changed', 'failed'))`,
  `alter table turns add column asked integer not null default 0`,
  `update turns set asked = 1 where id in (select turn from approvals)`,
];

/* Sessions that are put aside as soon as nothing is to be done in them. */
const ephemeralSessions = [
  `alter table sessions add column ephemeral integer not null default 0`,
  `create index sessions_ephemeral on sessions (id) where ephemeral = 1 and archived_at is null`,
];

/* What another program sent. */
const webhookWork = [`alter table work add column payload text`];

/*
 * The last reaction of each person to what asks, so that one that comes again counts once and a refusal is said once.
 */
const cardReactions = [
  `create table card_reactions (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     id text not null,
     refused integer not null,
     at integer not null,
     primary key (code, person)
   ) strict, without rowid`,
];

/* Commands that go on in a session's container beside its turns. */
const jobs = [
  `create table jobs (
     session text not null references sessions (id),
     id text not null,
     group_name text not null,
     generation integer not null,
     conversation integer not null,
     turn text not null,
     command text not null,
     state text not null check (state in ('running', 'exited', 'stopped', 'expired', 'lost')),
     started_at integer not null,
     ended_at integer,
     exit_code integer,
     reason text,
     primary key (session, id)
   ) strict, without rowid`,
  `create index jobs_running on jobs (started_at) where state = 'running'`,
  `create index jobs_by_start on jobs (started_at)`,
];

const approvalOrigins = [`alter table approvals add column origins text`];

/*
 * Groups with several agents: which of them a message is for, and which of them says something. A message for several
 * has a row for each; the id of such a copy begins with the agent's, so that each is there once.
 */
const severalAgents = [
  `alter table messages add column agent text`,
  `alter table messages add column copy_of integer`,
  `alter table outbox add column agent text`,
  `alter table tasks add column agent text`,
  `alter table sub_agents add column route text`,
];

/** Before which step long results of tools are not sent to models any more. */
const clearedResults = [`alter table sessions add column cleared_before integer not null default 0`];

/*
 * What pictures show in words, and from which step on a session's pictures are still shown as such: of those before it,
 * the captions up to a number are told, so that a prompt does not change when a later one is made.
 */
const pictureCaptions = [
  `create table picture_captions (
     seq integer primary key autoincrement,
     sha256 text not null unique,
     caption text not null,
     at integer not null
   ) strict`,
  `alter table sessions add column pictures_from integer not null default 0`,
  `alter table sessions add column captions_to integer not null default 0`,
];

/**
 * Every migration by name; names sort in the order in which they run, and a name that was released is never changed.
 */
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
  "0022-pairing": { up: (database: Kysely<Tables>) => run(database, pairing) },
  "0024-turn-origins": { up: (database: Kysely<Tables>) => run(database, turnOrigins) },
  "0026-approvals": { up: (database: Kysely<Tables>) => run(database, approvals) },
  "0029-settings-history": { up: (database: Kysely<Tables>) => run(database, settingsHistory) },
  "0030-group-settings-written": { up: (database: Kysely<Tables>) => run(database, groupSettingsWritten) },
  "0031-instructions-by-file": { up: (database: Kysely<Tables>) => run(database, instructionsByFile) },
  "0032-threads": { up: (database: Kysely<Tables>) => run(database, threads) },
  "0034-proposed-changes": { up: (database: Kysely<Tables>) => run(database, proposedChanges) },
  "0035-ephemeral-sessions": { up: (database: Kysely<Tables>) => run(database, ephemeralSessions) },
  "0037-webhook-work": { up: (database: Kysely<Tables>) => run(database, webhookWork) },
  "0043-outbox-said": { up: (database: Kysely<Tables>) => run(database, outboxSaid) },
  "0033-card-reactions": { up: (database: Kysely<Tables>) => run(database, cardReactions) },
  "0036-tasks": { up: (database: Kysely<Tables>) => run(database, tasks) },
  "0038-jobs": { up: (database: Kysely<Tables>) => run(database, jobs) },
  "0039-sub-agents": { up: (database: Kysely<Tables>) => run(database, subAgents) },
  "0042-approval-origins": { up: (database: Kysely<Tables>) => run(database, approvalOrigins) },
  "0044-sub-agent-numbers": { up: (database: Kysely<Tables>) => run(database, subAgentNumbers) },
  "0047-several-agents": { up: (database: Kysely<Tables>) => run(database, severalAgents) },
  "0049-task-runs-by-work": { up: (database: Kysely<Tables>) => run(database, taskRunsByWork) },
  "0050-erasures": { up: (database: Kysely<Tables>) => run(database, erasures) },
  "0054-summaries": { up: (database: Kysely<Tables>) => run(database, summaries) },
  "0055-compaction-requests": { up: (database: Kysely<Tables>) => run(database, compactionRequests) },
  "0056-cleared-results": { up: (database: Kysely<Tables>) => run(database, clearedResults) },
  "0057-accounts": { up: (database: Kysely<Tables>) => run(database, [...tokenFactors, ...usageOfAgents]) },
  "0058-standing-questions": { up: (database: Kysely<Tables>) => run(database, standingQuestionTables) },
  "0060-picture-captions": { up: (database: Kysely<Tables>) => run(database, pictureCaptions) },
  "0067-prompt-sections": { up: (database: Kysely<Tables>) => run(database, promptSections) },
  "0069-learned-windows": { up: (database: Kysely<Tables>) => run(database, learnedWindows) },
};

async function run(database: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}
