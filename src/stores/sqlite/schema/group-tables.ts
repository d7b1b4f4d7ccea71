import type { Generated } from "kysely";

import type { RequestKind, RequestState } from "../../../domain/chats/group.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import type { ProtectedFileName } from "../../../domain/rights/protected-file.ts";

interface GroupTable {
  readonly name: string;
  readonly channel: string;
  readonly chat: string;
  readonly settings: string;
}

interface GroupFolderTable {
  readonly name: string;
  readonly channel: string;
  readonly chat: string;
}

interface GroupInstructionsTable {
  readonly group_name: string;
  readonly file: ProtectedFileName;
  readonly sha256: string;
  readonly bytes: number;
  readonly changed_at: number | null;
}

interface OrdinalTable {
  readonly group_name: string;
  readonly ordinal: number;
}

interface ChatTable {
  readonly channel: string;
  readonly chat: string;
  readonly group_name: string | null;
  readonly first_seen_at: number;
  readonly last_seen_at: number;
  readonly messages: number;
  readonly title: string | null;
  readonly members: string | null;
  readonly gone: Generated<number>;
}

interface MemberTable {
  readonly group_name: string;
  readonly sender_id: string;
  readonly name: string;
  readonly seen_at: number;
}

interface ChatRequestTable {
  readonly kind: Generated<RequestKind>;
  readonly code: string;
  readonly channel: string;
  readonly chat: string;
  readonly title: string | null;
  readonly sender_id: string;
  readonly sender_name: string;
  readonly state: RequestState;
  readonly at: number;
}

interface CodeTriesTable {
  readonly place: string;
  readonly wrong: number;
  readonly message: number;
  readonly at: number;
}

interface FolderOriginTable {
  readonly group_name: string;
  readonly origin: Origin;
  readonly since: number;
  readonly turn: string | null;
}

/** Groups, their folders, and the chats and people the host knows. */
export interface GroupTables {
  readonly groups: GroupTable;
  readonly group_folders: GroupFolderTable;
  readonly group_instructions: GroupInstructionsTable;
  readonly ordinals: OrdinalTable;
  readonly chats: ChatTable;
  readonly members: MemberTable;
  readonly chat_requests: ChatRequestTable;
  readonly code_tries: CodeTriesTable;
  readonly folder_origins: FolderOriginTable;
}

export const groupSchema = [
  `create table groups (
     name text primary key,
     channel text not null,
     chat text not null,
     settings text not null,
     unique (channel, chat)
   ) strict`,
  `create table group_folders (name text primary key, channel text not null, chat text not null) strict`,
  `create table group_instructions (
     group_name text not null references group_folders (name),
     file text not null,
     sha256 text not null,
     bytes integer not null,
     changed_at integer,
     primary key (group_name, file)
   ) strict, without rowid`,
  `create table ordinals (group_name text primary key, ordinal integer not null unique) strict`,
  `create table chats (
     channel text not null,
     chat text not null,
     group_name text,
     first_seen_at integer not null,
     last_seen_at integer not null,
     messages integer not null,
     title text,
     members text,
     gone integer not null default 0,
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
  `create table chat_requests (
     code text primary key,
     channel text not null,
     chat text not null,
     title text,
     sender_id text not null,
     sender_name text not null,
     state text not null check (state in ('requested', 'denied')),
     at integer not null,
     kind text not null default 'admission' check (kind in ('admission', 'pairing')),
     unique (channel, chat)
   ) strict`,
  `create table code_tries (
     place text primary key,
     wrong integer not null,
     message integer not null,
     at integer not null
   ) strict, without rowid`,
  `create table folder_origins (
     group_name text not null,
     origin text not null,
     since integer not null,
     turn text,
     primary key (group_name, origin)
   ) strict, without rowid`,
];
