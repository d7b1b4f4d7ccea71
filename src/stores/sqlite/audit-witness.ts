import SQLite from "better-sqlite3";

import { AppError, toError } from "../../lib/app-error.ts";
import type { AuditIndex } from "../store.ts";
import { SqliteAuditIndex } from "./audit-index.ts";
import { Database } from "./database.ts";

/** Reads the audit head of a database file and nothing else; throws AppError `store_failed` when there is no such file. */
export function openSqliteAuditWitness(path: string): Pick<AuditIndex, "head"> & AsyncDisposable {
  const database = new Database(openReadOnly(path), { path, busyTimeoutMs: 0 });
  const index = new SqliteAuditIndex(database);
  return { head: () => index.head(), [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

function openReadOnly(path: string): SQLite.Database {
  try {
    return new SQLite(path, { readonly: true, fileMustExist: true });
  } catch (cause) {
    throw new AppError("store_failed", `The store ${path} cannot be read: ${toError(cause).message}.`, { cause });
  }
}
