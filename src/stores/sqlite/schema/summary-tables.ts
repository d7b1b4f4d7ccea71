import type { Generated } from "kysely";

import type { SummaryKind } from "../../../domain/turns/summary.ts";

/** Covers steps of a conversation. Those that a later one takes in stay: conversations that forked before see them. */
interface SummaryTable {
  readonly seq: Generated<number>;
  readonly session: string;
  readonly conversation: number;
  readonly kind: SummaryKind;
  readonly from_step: number;
  readonly to_step: number;
  readonly from_entry: number;
  readonly to_entry: number;
  readonly text: string;
  readonly tokens: number;
  readonly model: string | null;
  readonly made_at: number;
}

/** Requests for compaction. */
interface CompactionRequestTable {
  readonly session: string;
  readonly conversation: number;
  readonly group_name: string;
  readonly message: number;
}

/** Summaries of conversations. */
export interface SummaryTables {
  readonly summaries: SummaryTable;
  readonly compaction_requests: CompactionRequestTable;
}

export const summarySchema = [
  `create table summaries (
     seq integer primary key autoincrement,
     session text not null references sessions (id),
     conversation integer not null,
     kind text not null check (kind in ('summary', 'eviction')),
     from_step integer not null,
     to_step integer not null check (to_step >= from_step),
     from_entry integer not null,
     to_entry integer not null,
     text text not null,
     tokens integer not null,
     model text,
     made_at integer not null
   ) strict`,
  `create index summaries_by_end on summaries (session, conversation, to_step, seq)`,
  `create table compaction_requests (
     session text primary key references sessions (id),
     conversation integer not null,
     group_name text not null,
     message integer not null
   ) strict, without rowid`,
];
