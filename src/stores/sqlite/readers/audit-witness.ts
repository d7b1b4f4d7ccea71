import { sql } from "kysely";

import type { AuditIndex } from "../../contract/store.ts";
import { sqliteAuditIndex } from "../records/audit-index.ts";
import { Database } from "../database/database.ts";
import { openReadOnly } from "./open-read-only.ts";

/**
 * Reads what a database file remembers of the audit log and nothing else; it may be of an older version. Throws
 * AppError `store_failed` when there is no such file.
 */
export function openSqliteAuditWitness(path: string): Pick<AuditIndex, "head" | "signed"> & AsyncDisposable {
  const database = new Database(openReadOnly(path), { path, busyTimeoutMs: 0 });
  const index = sqliteAuditIndex(database);
  return {
    head: () => index.head(),
    signed: async () => ((await knowsSigned(database)) ? index.signed() : undefined),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function knowsSigned(database: Database): Promise<boolean> {
  const { rows } = await database.read((kysely) =>
    sql`select name from sqlite_schema where type = 'table' and name = 'audit_signed'`.execute(kysely),
  );
  return rows.length > 0;
}
