/** Turns, their steps, and the blobs that steps refer to. `turns.asked`: the turn has asked people about calls. */
export const turnSchema = [
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
     reason text,
     times text,
     cause text not null default 'message',
     reply_to text not null default '{"kind":"nowhere"}',
     role text not null,
     origins text not null,
     people text not null,
     narrowed text not null,
     asked integer not null default 0
   ) strict`,
  `create index turns_by_group on turns (group_name, seq)`,
  `create index turns_running on turns (seq) where state = 'running'`,
  `create index turns_running_by_session on turns (session) where state = 'running'`,
  `create index turns_by_session on turns (session, seq)`,
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
  `create table picture_captions (
     seq integer primary key autoincrement,
     sha256 text not null unique,
     caption text not null,
     at integer not null
   ) strict`,
] as const;
