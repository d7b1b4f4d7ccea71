import SQLite from "better-sqlite3";

import { openStore } from "../../src/stores/catalog.ts";

/** Makes a store of a version that knew nothing of execution points. */
export async function makeOlderStore(path: string): Promise<void> {
  await (await openStore({ kind: "sqlite", path }))[Symbol.asyncDispose]();
  changeStore(path, "drop table execution_points; delete from kysely_migration where name like '%-execution-points'");
}

/** Runs statements on the file of a store that is closed. */
export function changeStore(path: string, statements: string): void {
  const database = new SQLite(path);
  database.exec(statements);
  database.close();
}
