import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";

import type SQLite from "better-sqlite3";
import type { SqliteDatabase, SqliteStatement } from "kysely";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { StoreReader } from "../../define-store.ts";
import { openTables } from "../../tables.ts";
import { SqliteChannelState } from "../groups/channel-state.ts";
import { SqliteChats } from "../groups/chats.ts";
import { Database } from "../database.ts";
import { SqliteGroups } from "../groups/groups.ts";
import { SqliteMessages } from "../conversation/messages.ts";
import { SqliteJobs } from "../conversation/jobs.ts";
import { requireThisVersion } from "../schema/migrations.ts";
import { SqliteOutbox } from "../conversation/outbox.ts";
import { SqliteOrigins } from "../conversation/origins.ts";
import { SqliteSessions } from "../conversation/sessions.ts";
import { SqliteSettings } from "../settings.ts";
import { SqliteTasks } from "../tasks/tasks.ts";
import { SqliteTurns } from "../conversation/turns.ts";
import { SqliteUsage } from "../usage.ts";
import { SqliteApprovals } from "../conversation/approvals.ts";
import { SqliteSummaries } from "../conversation/summaries.ts";
import { SqliteSubAgents } from "../conversation/sub-agents.ts";
import { SqliteWork } from "../conversation/work.ts";

/**
 * Throws AppError `store_failed` when there is no such file, or when it was written by an earlier or a newer version.
 */
export async function openSqliteStoreReader(path: string): Promise<StoreReader> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(openDatabase(path));
  await database.read((kysely) => requireThisVersion(kysely, path)).catch((cause: unknown) => refuse(cause, path));
  const owned = opening.move();
  return {
    ...openTables(database),
    messages: new SqliteMessages(database),
    groups: new SqliteGroups(database),
    chats: new SqliteChats(database),
    sessions: new SqliteSessions(database),
    summaries: new SqliteSummaries(database),
    turns: new SqliteTurns(database),
    work: new SqliteWork(database),
    jobs: new SqliteJobs(database),
    approvals: new SqliteApprovals(database),
    tasks: new SqliteTasks(database),
    subAgents: new SqliteSubAgents(database),
    origins: new SqliteOrigins(database),
    outbox: new SqliteOutbox(database),
    usage: new SqliteUsage(database),
    settings: new SqliteSettings(database),
    channelState: new SqliteChannelState(database),
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
