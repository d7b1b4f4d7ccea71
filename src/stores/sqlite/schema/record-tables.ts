/** The index of the audit log, the history of settings, and erasures, which do not tell whom they were about. */
export const recordTables = [
  `create table audit_records (
     seq integer primary key,
     hash text not null,
     type text not null,
     group_name text,
     file text not null
   ) strict`,
  `create table audit_signed (
     id integer primary key check (id = 1),
     seq integer not null
   ) strict`,
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
  `create table erasures (
     digest text primary key,
     begun_at integer not null,
     ended_at integer
   ) strict, without rowid`,
  `create table write_probe (
     id integer primary key check (id = 1),
     at integer not null
   ) strict`,
] as const;
