/**
 * Summaries of steps, and requests for compaction. A summary that a later one includes stays: conversations that forked
 * before see it.
 */
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
     made_at integer not null,
     origins text not null
   ) strict`,
  `create index summaries_by_end on summaries (session, conversation, to_step, seq)`,
  `create table compaction_requests (
     session text primary key references sessions (id),
     conversation integer not null,
     group_name text not null,
     message integer not null
   ) strict, without rowid`,
] as const;
