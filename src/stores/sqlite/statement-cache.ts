import type SQLite from "better-sqlite3";
import type { SqliteDatabase, SqliteStatement } from "kysely";

/** More than the store has; texts with a variable number of values must not push out those of the path of a message. */
const mostStatements = 512;

/** A connection that prepares each text once: preparing takes longer than running most of them. */
export class StatementCache implements SqliteDatabase {
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
