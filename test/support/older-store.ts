import SQLite from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { Migrator } from "kysely/migration";

import { migrations } from "../../src/stores/sqlite/schema/migrations.ts";

/** Makes the store of a version whose last migration was this one. */
export async function makeOlderStore(path: string, last: string): Promise<void> {
  const known = Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last));
  const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new SQLite(path) }) });
  try {
    const { error } = await new Migrator({
      db: kysely,
      provider: { getMigrations: () => Promise.resolve(known) },
    }).migrateToLatest();
    if (error !== undefined) throw error as Error;
  } finally {
    await kysely.destroy();
  }
}
