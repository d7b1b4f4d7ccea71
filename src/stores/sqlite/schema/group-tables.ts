/** Groups, their folders, and the chats and people the host knows. */
export const groupSchema = [
  `create table groups (
     name text primary key,
     channel text not null,
     chat text not null,
     settings text not null,
     unique (channel, chat)
   ) strict`,
  `create table group_folders (
     name text primary key,
     channel text not null,
     chat text not null
   ) strict`,
  `create table group_instructions (
     group_name text not null references group_folders (name),
     file text not null,
     sha256 text not null,
     bytes integer not null,
     changed_at integer,
     origins text not null,
     primary key (group_name, file)
   ) strict, without rowid`,
  `create table ordinals (
     group_name text primary key,
     ordinal integer not null unique
   ) strict`,
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
] as const;
