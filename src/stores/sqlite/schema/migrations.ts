import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";

import { AppError, toError } from "../../../lib/app-error.ts";
import { tableMigrations } from "../../tables.ts";
import { schema, type Tables } from "./tables.ts";

/** The statements of each migration by its name. One that was released is never changed. */
const migrations: Readonly<Record<string, readonly string[]>> = { "0001-schema": schema, ...tableMigrations };

/** The first migration of stores that development versions before 0.1.0 wrote. */
const beforeFirstRelease = "0001-initial";

/**
 * Brings a file up to date: all that is missing, or nothing. Throws AppError `store_failed` for a database of another
 * program, and for a version that this one does not know.
 */
export async function migrateStore(kysely: Kysely<Tables>, path: string): Promise<void> {
  const { applied, isOther } = await readVersion(kysely);
  if (isOther) {
    throw new AppError("store_failed", `${path} is a database of another program; crabpot does not touch it.`);
  }
  requireKnown(applied, path);
  // At most starts nothing is missing, and the migrator takes its time to find that out.
  if (applied.length === Object.keys(migrations).length) return;
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(toMigrations()) },
    // Each store's tables have their own migrations.
    allowUnorderedMigrations: true,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw toError(error);
}

/** Throws AppError `store_failed` for a store of another version. */
export async function requireThisVersion(kysely: Kysely<Tables>, path: string): Promise<void> {
  const { applied, isOther } = await readVersion(kysely);
  if (isOther || applied.length === 0) {
    throw new AppError("store_failed", `The store ${path} cannot be read: it is not a store of crabpot.`);
  }
  requireKnown(applied, path);
  if (applied.length === Object.keys(migrations).length) return;
  throw new AppError(
    "store_failed",
    `The store ${path} was written by an earlier version of crabpot; this one cannot read it.`,
    { fix: "start the host, which brings it up to date" },
  );
}

/** The migrations that a file has had; none for a file that is new. */
async function readVersion(kysely: Kysely<Tables>): Promise<{ applied: readonly string[]; isOther: boolean }> {
  const tables = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'`.execute(kysely);
  if (!tables.rows.some(({ name }) => name === "kysely_migration")) {
    return { applied: [], isOther: tables.rows.length > 0 };
  }
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name desc`.execute(kysely);
  return { applied: rows.map(({ name }) => name), isOther: false };
}

function requireKnown(applied: readonly string[], path: string): void {
  if (applied.includes(beforeFirstRelease)) {
    throw new AppError(
      "store_failed",
      `The store ${path} was written by a development version before 0.1.0; this one cannot read it.`,
      { fix: "move the home folder away and start again: crabpot makes a new one" },
    );
  }
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name));
  if (unknown === undefined) return;
  throw new AppError(
    "store_failed",
    `The store ${path} was written by a newer version of crabpot (it has the migration ${unknown}); ` +
      "this one cannot read it.",
    { fix: "update crabpot, or use another home" },
  );
}

function toMigrations(): Record<string, Migration> {
  const entries = Object.entries(migrations).map(([name, statements]) => {
    const up = async (database: Kysely<unknown>): Promise<void> => {
      for (const statement of statements) await sql.raw(statement).execute(database);
    };
    return [name, { up }] as const;
  });
  return Object.fromEntries(entries);
}
