/** Sessions and what each was given. */
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
     sections text,
     origins text not null
   ) strict`,
  `create table offered_tools (
     session text primary key references sessions (id),
     conversation integer not null,
     tools text not null
   ) strict, without rowid`,
] as const;
