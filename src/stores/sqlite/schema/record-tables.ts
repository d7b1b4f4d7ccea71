import type { Generated } from "kysely";

interface AuditRecordTable {
  readonly seq: number;
  readonly hash: string;
  readonly type: string;
  readonly group_name: string | null;
  readonly file: string;
}

interface AuditSignedTable {
  readonly id: number;
  readonly seq: number;
}

interface SettingsHistoryTable {
  readonly id: Generated<number>;
  readonly at: number;
  readonly actor: string;
  readonly via: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

interface SettingsAppliedTable {
  readonly id: number;
  readonly settings: string;
}

/** An erasure that was begun. Who it was about cannot be told from it. */
interface ErasureTable {
  readonly digest: string;
  readonly begun_at: number;
  readonly ended_at: number | null;
}

interface WriteProbeTable {
  readonly id: number;
  readonly at: number;
}

/** The index of the audit log, the history of settings, erasures. */
export interface RecordTables {
  readonly audit_records: AuditRecordTable;
  readonly audit_signed: AuditSignedTable;
  readonly settings_history: SettingsHistoryTable;
  readonly settings_applied: SettingsAppliedTable;
  readonly erasures: ErasureTable;
  readonly write_probe: WriteProbeTable;
}

export const recordTables = [
  `create table audit_records (
     seq integer primary key,
     hash text not null,
     type text not null,
     group_name text,
     file text not null
   ) strict`,
  `create table audit_signed (id integer primary key check (id = 1), seq integer not null) strict`,
  `create table settings_history (
     id integer primary key autoincrement,
     at integer not null,
     actor text not null,
     via text not null,
     path text not null,
     before text,
     after text
   ) strict`,
  `create table settings_applied (id integer primary key check (id = 1), settings text not null) strict`,
  `create table erasures (
     digest text primary key,
     begun_at integer not null,
     ended_at integer
   ) strict, without rowid`,
  `create table write_probe (id integer primary key check (id = 1), at integer not null) strict`,
];
