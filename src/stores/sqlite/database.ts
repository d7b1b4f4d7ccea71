import SQLite from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteDialect,
  SqliteDriver,
  type Transaction,
} from "kysely";

import { AppError } from "../../lib/app-error.ts";
import type { Tables } from "./tables.ts";

/**
 * The one connection to the file. Kysely lends it to one transaction or query at a time, so concurrent callers queue and
 * never see, or write into, each other's half-done transaction.
 */
export class Database implements AsyncDisposable {
  readonly #kysely: Kysely<Tables>;
  readonly #path: string;
  #closed = false;

  /** Takes over `connection` and closes it at the end. `onQuery` sees the text of every statement, without its values. */
  constructor(connection: SQLite.Database, path: string, onQuery?: (statement: string) => void) {
    this.#path = path;
    this.#kysely = new Kysely<Tables>({
      dialect: new ImmediateDialect(connection),
      ...(onQuery && { log: (event) => onQuery(event.query.sql) }),
    });
  }

  /** For one statement. SQLite's failures come as AppError `store_failed`, everything else as it is. */
  read<T>(query: (kysely: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.#guard(() => query(this.#kysely));
  }

  /** All of `change` is stored and on disk when this resolves, or nothing of it is stored when it rejects. */
  write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#guard(() => this.#kysely.transaction().execute(change));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // The connection is lent out in the order of calls: this one comes back after everything that was asked before.
    await this.#kysely.connection().execute(async () => {});
    await this.#kysely.destroy();
  }

  async #guard<T>(action: () => Promise<T>): Promise<T> {
    if (this.#closed)
      throw new AppError("store_failed", `The store ${this.#path} is closed; nothing was read or written.`);
    try {
      return await action();
    } catch (error) {
      throw storeFailure(this.#path, error);
    }
  }
}

class ImmediateDialect extends SqliteDialect {
  readonly #connection: SQLite.Database;

  constructor(connection: SQLite.Database) {
    super({ database: connection });
    this.#connection = connection;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#connection);
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #connection: SQLite.Database;

  constructor(connection: SQLite.Database) {
    super({ database: connection });
    this.#connection = connection;
  }

  /** Takes the write lock first: a transaction that reads, then writes, could otherwise fail in the middle with BUSY. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /** A full disk has rolled back already; a second rollback would fail and hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}

const failures: readonly { code: RegExp; what: string; fix: string }[] = [
  { code: /^SQLITE_FULL/, what: "the disk is full", fix: "free some space; the host goes on by itself" },
  {
    code: /^SQLITE_(BUSY|LOCKED)/,
    what: "another process holds it for too long",
    fix: "end the other program that writes to this file",
  },
  {
    code: /^SQLITE_(CORRUPT|NOTADB)/,
    what: "it is damaged or not a database of crabpot",
    fix: "stop the host, keep a copy of the file, and restore a backup or move the file away",
  },
  { code: /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/, what: "it cannot be written", fix: "check its owner and mode" },
  { code: /^SQLITE_IOERR/, what: "reading or writing the disk failed", fix: "check the disk and the system's log" },
];

/** Turns an error of SQLite into AppError `store_failed` with a sentence about its cause; other errors pass unchanged. */
export function storeFailure(path: string, error: unknown): unknown {
  if (!(error instanceof SQLite.SqliteError)) return error;
  const known = failures.find(({ code }) => code.test(error.code));
  const what = known?.what ?? error.message;
  return new AppError("store_failed", `The store ${path} failed: ${what} (${error.code}).`, {
    cause: error,
    ...(known && { fix: known.fix }),
  });
}
