import type { Generated } from "kysely";

import type { SessionKind } from "../../../domain/turns/session.ts";

interface SessionTable {
  readonly id: string;
  readonly key: string;
  readonly group_name: string;
  readonly conversation: number;
  readonly generation: number;
  readonly context_cursor: number;
  readonly window_start: number;
  readonly cleared_before: Generated<number>;
  readonly pictures_from: Generated<number>;
  readonly captions_to: Generated<number>;
  readonly mailbox_block: number;
  readonly kind: Generated<SessionKind>;
  readonly parent: string | null;
  readonly archived_at: number | null;
  readonly ephemeral: Generated<number>;
  readonly lease_owner: string | null;
  readonly lease_generation: Generated<number>;
  readonly lease_expires_at: Generated<number>;
}

interface ConversationPromptTable {
  readonly session: string;
  readonly conversation: number;
  readonly system: string;
  readonly told: string;
  readonly sections: string | null;
}

interface OfferedToolsTable {
  readonly session: string;
  readonly conversation: number;
  readonly tools: string;
}

/** Sessions and what each was given. */
export interface SessionTables {
  readonly sessions: SessionTable;
  readonly conversation_prompts: ConversationPromptTable;
  readonly offered_tools: OfferedToolsTable;
}

export const sessionSchema = [
  `create table sessions (
     id text primary key,
     key text not null unique,
     group_name text not null,
     conversation integer not null,
     generation integer not null,
     context_cursor integer not null,
     window_start integer not null,
     mailbox_block integer not null,
     kind text not null default 'main',
     parent text,
     archived_at integer,
     lease_owner text,
     lease_generation integer not null default 0,
     lease_expires_at integer not null default 0,
     ephemeral integer not null default 0,
     cleared_before integer not null default 0,
     pictures_from integer not null default 0,
     captions_to integer not null default 0
   ) strict`,
  `create index sessions_ephemeral on sessions (id) where ephemeral = 1 and archived_at is null`,
  `create table conversation_prompts (
     session text primary key references sessions (id),
     conversation integer not null,
     system text not null,
     told text not null,
     sections text
   ) strict`,
  `create table offered_tools (
     session text primary key references sessions (id),
     conversation integer not null,
     tools text not null
   ) strict, without rowid`,
];
