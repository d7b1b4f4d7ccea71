import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";

import type SQLite from "better-sqlite3";
import type { SqliteDatabase, SqliteStatement } from "kysely";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { StoreReader } from "../../define-store.ts";
import { Database } from "../database/database.ts";
import { openStores } from "../stores.ts";
import { requireThisVersion } from "../schema/migrations.ts";

/**
 * Throws AppError `store_failed` when there is no such file, or when it was written by an earlier or a newer version.
 */
export async function openSqliteStoreReader(path: string): Promise<StoreReader> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(openDatabase(path));
  await database.read((kysely) => requireThisVersion(kysely, path)).catch((cause: unknown) => refuse(cause, path));
  const owned = opening.move();
  return {
    ...openStores(database),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function openDatabase(path: string): Database {
  try {
    // Preparing and closing is all that reading asks of a connection.
    const connection = new ReadOnlyConnection(path) as unknown as SQLite.Database;
    return new Database(connection, { path, busyTimeoutMs: 0 });
  } catch (cause) {
    throw new AppError("store_failed", `The store ${path} cannot be read: ${toError(cause).message}.`, { cause });
  }
}

/**
 * A file that keeps a log beside it is otherwise read only where that log can be made. Without one, everything is in
 * the file: Node's own SQLite can be told, by an address, that it is read as it is, and makes nothing.
 */
class ReadOnlyConnection implements SqliteDatabase {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    const address = pathToFileURL(path);
    const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (!hasLog) address.searchParams.set("immutable", "1");
    this.#database = new DatabaseSync(address, { readOnly: true });
  }

  prepare(text: string): SqliteStatement {
    const statement = this.#database.prepare(text);
    return {
      reader: true,
      all: (parameters) => statement.all(...inputs(parameters)),
      run: (parameters) => statement.run(...inputs(parameters)),
      iterate: (parameters) => statement.iterate(...inputs(parameters)),
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** Kysely does not know what a value of SQLite is. */
function inputs(parameters: readonly unknown[]): readonly SQLInputValue[] {
  return parameters as readonly SQLInputValue[];
}

function refuse(cause: unknown, path: string): never {
  if (cause instanceof AppError) throw cause;
  const why = `it is no store of crabpot, or damaged: ${toError(cause).message}`;
  throw new AppError("store_failed", `The store ${path} cannot be read: ${why}.`, { cause });
}
