import { setTimeout as delay } from "node:timers/promises";

import SQLite from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  type SqliteStatement,
} from "kysely";

import { AppError } from "../../../lib/app-error.ts";
import type { Tables } from "../schema/tables.ts";
import { rewriteInThread } from "../rewrite/rewrite-in-thread.ts";
import { WriteBatches, type Change } from "./write-batches.ts";

/**
 * The highest there is: texts that begin with a prefix are at least the prefix, and less than the prefix with this
 * behind it.
 */
const lastCharacter = "\u{10ffff}";

export interface DatabaseOptions {
  readonly path: string;
  /** Time that a write waits for another process; other work of this process continues. */
  readonly busyTimeoutMs: number;
  /** Sees the text of every statement, without its values. */
  readonly onQuery?: ((statement: string) => void) | undefined;
}

/** A statement that selects rows. */
interface Query<Output> {
  execute(): Promise<Output[]>;
  executeTakeFirst(): Promise<Output | undefined>;
}

/**
 * The one connection to the file. Kysely lends it to one transaction or query at a time, so concurrent callers queue
 * and never see, or write into, each other's half-done transaction.
 */
export class Database implements AsyncDisposable {
  readonly #kysely: Kysely<Tables>;
  readonly #path: string;
  readonly #writes: WriteBatches;
  #closed = false;

  /** Takes over `connection` and closes it at the end. */
  constructor(connection: SQLite.Database, options: DatabaseOptions) {
    const { path, onQuery } = options;
    this.#path = path;
    this.#kysely = new Kysely<Tables>({
      dialect: new ImmediateDialect(connection, options.busyTimeoutMs),
      ...(onQuery && { log: (event) => onQuery(event.query.sql) }),
    });
    this.#writes = new WriteBatches(this.#kysely, connection);
  }

  /** For one statement. SQLite's failures come as AppError `store_failed`, everything else as it is. */
  read<T>(query: (kysely: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.#guard(() => query(this.#kysely));
  }

  /** Rows of a query, each made into what `toItem` says. */
  async list<Output, Item>(
    toItem: (row: Output) => Item,
    query: (kysely: Kysely<Tables>) => Query<Output>,
  ): Promise<Item[]> {
    const rows = await this.read((kysely) => query(kysely).execute());
    return rows.map((row) => toItem(row));
  }

  /** The same for the first row; undefined where there is none. */
  async first<Output, Item>(
    toItem: (row: Output) => Item,
    query: (kysely: Kysely<Tables>) => Query<Output>,
  ): Promise<Item | undefined> {
    const row = await this.read((kysely) => query(kysely).executeTakeFirst());
    return row && toItem(row);
  }

  /** Ids of a table, in their order, at most `limit`. */
  async idsBeginningWith(table: "turns" | "work" | "tasks", prefix: string, limit: number): Promise<string[]> {
    const rows = await this.read((kysely) =>
      kysely
        .selectFrom(table)
        .select("id")
        .where("id", ">=", prefix)
        .where("id", "<", `${prefix}${lastCharacter}`)
        .orderBy("id")
        .limit(limit)
        .execute(),
    );
    return rows.map(({ id }) => id);
  }

  /** All of `change` is stored and on disk when this resolves, or nothing of it is stored when it rejects. */
  write<T>(change: Change<T>): Promise<T> {
    return this.#guard(() => this.#writes.add(change, true));
  }

  /**
   * The same, but for a loss of power: it may take back what was written like this since the last `write`. For what may
   * be done or found out again.
   */
  writeSoon<T>(change: Change<T>): Promise<T> {
    return this.#guard(() => this.#writes.add(change, false));
  }

  /**
   * Rewrites the file and empties its log, so that removed data is in neither. Calls to the store wait meanwhile.
   * Rejects with a passing `store_failed` while another process reads from it.
   */
  compact(): Promise<void> {
    return this.#guard(async () => {
      await this.#writes.idle();
      await this.#kysely.connection().execute(() => rewriteInThread(this.#path));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writes.idle();
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

/** More than the store has; texts with a variable number of values must not push out those of the path of a message. */
const mostStatements = 512;

/** A connection that prepares each text once: preparing takes longer than running most of them. */
class StatementCache implements SqliteDatabase {
  readonly #connection: SQLite.Database;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(connection: SQLite.Database) {
    this.#connection = connection;
  }

  prepare(text: string): SqliteStatement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement: SqliteStatement = this.#connection.prepare(text);
    if (this.#statements.size < mostStatements) this.#statements.set(text, statement);
    return statement;
  }

  close(): void {
    this.#connection.close();
  }
}

class ImmediateDialect extends SqliteDialect {
  readonly #connection: SQLite.Database;
  readonly #busyTimeoutMs: number;

  constructor(connection: SQLite.Database, busyTimeoutMs: number) {
    super({ database: connection });
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalAdapter();
  }

  override createQueryCompiler(): QueryCompiler {
    return new PlanOnceCompiler();
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#connection, this.#busyTimeoutMs);
  }
}

/**
 * SQLite looks at bare parameters while it plans a statement and plans it anew whenever they are bound again, which
 * takes many times longer than running it. It does not look behind a unary plus, which changes nothing about the value.
 */
class PlanOnceCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return "+?";
  }
}

const busyRetryMs = 20;

/**
 * SQLite can take back changes of its schema; told so, the library makes each start's changes all at once or not at
 * all.
 */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #connection: SQLite.Database;
  readonly #busyTimeoutMs: number;
  /** Another process held the file for too long at the last try. */
  #isHeld = false;

  constructor(connection: SQLite.Database, busyTimeoutMs: number) {
    super({ database: new StatementCache(connection) });
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /**
   * Takes the write lock first: a transaction that reads, then writes, could otherwise fail in the middle with BUSY. A
   * lock that another process holds is waited for once; until it is let go, further writes fail at once instead of
   * lining up.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const deadline = performance.now() + (this.#isHeld ? 0 : this.#busyTimeoutMs);
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw("begin immediate"));
        this.#isHeld = false;
        return;
      } catch (error) {
        this.#isHeld = isBusy(error) && performance.now() >= deadline;
        if (this.#isHeld || !isBusy(error)) throw error;
        await delay(busyRetryMs);
      }
    }
  }

  /** A full disk has rolled back already; a second rollback would fail and hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

const failures: readonly { code: RegExp; what: string; fix: string; passing: boolean }[] = [
  {
    code: /^SQLITE_FULL/,
    what: "the disk is full",
    fix: "free some space; the host then continues automatically",
    passing: true,
  },
  {
    code: /^SQLITE_(BUSY|LOCKED)/,
    what: "another process has held it for too long",
    fix: "end the other program that writes to this file",
    passing: true,
  },
  {
    code: /^SQLITE_(CORRUPT|NOTADB)/,
    what: "it is damaged or not a crabpot database",
    fix: "stop the host, keep a copy of the file, and restore a backup or move the file away",
    passing: false,
  },
  {
    code: /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/,
    what: "it cannot be written",
    fix: "check its owner and mode",
    passing: true,
  },
  {
    code: /^SQLITE_IOERR/,
    what: "reading or writing the disk failed",
    fix: "check the disk and the system's log",
    passing: true,
  },
];

/**
 * Turns an error of SQLite into AppError `store_failed` with a sentence about its cause; other errors pass unchanged.
 */
export function storeFailure(path: string, error: unknown): unknown {
  if (!(error instanceof SQLite.SqliteError)) return error;
  const known = failures.find(({ code }) => code.test(error.code));
  const what = known?.what ?? error.message;
  return new AppError("store_failed", `The store ${path} failed: ${what} (${error.code}).`, {
    cause: error,
    ...(known && { fix: known.fix, passing: known.passing }),
  });
}
