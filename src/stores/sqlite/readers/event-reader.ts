import SQLite from "better-sqlite3";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { EventStore } from "../../contract/event-store.ts";
import { SqliteEvents } from "../records/events.ts";
import { eventsPath } from "../open-sqlite-store.ts";

/**
 * Reads the events beside a store's file and nothing else. Throws AppError `store_failed` when there is no such file.
 */
export function openSqliteEventReader(path: string): Pick<EventStore, "after" | "before"> & AsyncDisposable {
  const file = eventsPath(path);
  try {
    return new SqliteEvents(new SQLite(file, { readonly: true, fileMustExist: true }), file);
  } catch (cause) {
    throw new AppError("store_failed", `The events in ${file} cannot be read: ${toError(cause).message}.`, { cause });
  }
}
