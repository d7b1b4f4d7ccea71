import SQLite from "better-sqlite3";

import { AppError, toError } from "../../../lib/app-error.ts";

/** Opens a store's file without changing it. Throws AppError `store_failed` when there is no such file. */
export function openReadOnly(path: string): SQLite.Database {
  try {
    return new SQLite(path, { readonly: true, fileMustExist: true });
  } catch (cause) {
    throw new AppError("store_failed", `The store ${path} cannot be read: ${toError(cause).message}.`, { cause });
  }
}
