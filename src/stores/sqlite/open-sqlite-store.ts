import { dirname, join } from "node:path";

import type SQLite from "better-sqlite3";

import { AppError, toError } from "../../lib/app-error.ts";
import type { Store } from "../contract/store.ts";
import { Database, storeFailure } from "./database/database.ts";
import { SqliteErasure } from "./erasure/erasure.ts";
import { migrateStore } from "./schema/migrations.ts";
import { openPrivate } from "./database/open-private.ts";
import { SqliteEvents } from "./records/events.ts";
import { openStores } from "./stores.ts";

export interface SqliteOptions {
  readonly path: string;
  /** Time that a write waits for another process. */
  readonly busyTimeoutMs?: number | undefined;
  /** Sees the text of every statement, without its values. */
  readonly onQuery?: ((statement: string) => void) | undefined;
}

/**
 * Opens the file, made with its folder if it is new and readable by its owner only, and brings it up to date.
 * Throws AppError `store_failed` when the file is damaged, not ours, or was written by a newer version.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(openDatabase(options));
  await database.read((kysely) => migrateStore(kysely, options.path));
  const events = opening.use(openEvents(eventsPath(options.path)));
  const owned = opening.move();
  return {
    ...openStores(database),
    events,
    erasure: new SqliteErasure(database, events),
    probe: (at) => probe(database, at),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The file beside the store's own that holds its events. */
export function eventsPath(path: string): string {
  return join(dirname(path), "events.sqlite");
}

/** Opens events without waiting for a locked file, as each call would block the host. */
function openEvents(path: string): SqliteEvents {
  const connection = open(path, 0);
  try {
    const events = new SqliteEvents(connection, path);
    events.prepare();
    return events;
  } catch (error) {
    connection.close();
    throw storeFailure(path, error);
  }
}

/** Maximum time that a statement may block while it waits for another process, such as one that recovers the file. */
const standstillMs = 50;

async function probe(database: Database, at: number): Promise<void> {
  await database.write((transaction) =>
    transaction
      .insertInto("write_probe")
      .values({ id: 1, at })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ at }))
      .execute(),
  );
}

function openDatabase({ path, busyTimeoutMs = 2_000, onQuery }: SqliteOptions): Database {
  const connection = open(path, busyTimeoutMs);
  try {
    configure(connection);
    connection.pragma(`busy_timeout = ${Math.min(standstillMs, busyTimeoutMs)}`);
    return new Database(connection, { path, busyTimeoutMs, onQuery });
  } catch (error) {
    connection.close();
    throw storeFailure(path, error);
  }
}

function configure(connection: SQLite.Database): void {
  connection.pragma("journal_mode = WAL");
  // A channel's peer forgets a message once we say "received", so a commit has to survive a loss of power. NORMAL would
  // only survive our own crash. It costs one sync of the log a commit: 0.13 ms, against 0.01 ms, on a cloud disk.
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  // Gives the space of a log that once grew large back to the disk.
  connection.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
}

function open(path: string, timeout: number): SQLite.Database {
  try {
    return openPrivate(path, timeout);
  } catch (cause) {
    throw new AppError("store_failed", `The store ${path} cannot be opened: ${toError(cause).message}.`, {
      cause,
      fix: "check the owner and mode of the file and its folder",
    });
  }
}
