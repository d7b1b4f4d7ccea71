import type { FolderReader } from "../define-store.ts";
import { Database } from "./database.ts";
import { SqliteGroups } from "./groups.ts";
import { openReadOnly } from "./open-read-only.ts";

/** Reads whose the folders of groups are and nothing else. Throws AppError `store_failed` when there is no such file. */
export function openSqliteFolderReader(path: string): FolderReader {
  const database = new Database(openReadOnly(path), { path, busyTimeoutMs: 0 });
  const groups = new SqliteGroups(database);
  return {
    folders: () => groups.folders(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
