import type { Generated } from "kysely";

import type { SummaryKind } from "../../../domain/turns/summary.ts";

/**
 * What covers steps of a conversation. Those that a later one takes in stay: conversations that forked before see them.
 */
export interface SummaryTable {
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

/** Conversations that somebody wants compacted. */
export interface CompactionRequestTable {
  readonly session: string;
  readonly conversation: number;
  readonly group_name: string;
  readonly message: number;
}

/* What conversations had dropped before there were summaries is covered by a note that says so. */
export const summaries = [
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
  `insert into summaries (session, conversation, kind, from_step, to_step, from_entry, to_entry, text, tokens, model, made_at)
     select sessions.id, sessions.conversation, 'eviction', min(steps.seq), sessions.window_start - 1, 1, count(*), '', 40, null, max(steps.at)
     from sessions join steps on steps.session = sessions.id and steps.conversation = sessions.conversation
       and steps.seq < sessions.window_start
     where sessions.window_start > 0 group by sessions.id`,
];

export const compactionRequests = [
  `create table compaction_requests (
     session text primary key references sessions (id),
     conversation integer not null,
     group_name text not null,
     message integer not null
   ) strict, without rowid`,
];
