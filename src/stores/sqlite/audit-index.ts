import type { Kysely } from "kysely";

import { AppError } from "../../lib/app-error.ts";
import type { AuditIndex } from "../store.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./tables.ts";

/** Five values a row; SQLite takes at most 32,766 in one statement. */
const rowsPerStatement = 1_000;

export class SqliteAuditIndex implements AuditIndex {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  head(): Promise<{ seq: number; hash: string } | undefined> {
    return this.#database.read((kysely) => selectHead(kysely));
  }

  /** Throws AppError `conflict` and stores nothing when a record does not come after the head. */
  append(
    records: readonly { seq: number; hash: string; type: string; group: string | undefined; file: string }[],
  ): Promise<void> {
    return this.#database.write(async (transaction) => {
      let previous = (await selectHead(transaction))?.seq ?? 0;
      for (const { seq } of records) {
        if (seq <= previous) {
          throw new AppError("conflict", `Audit record ${seq} cannot follow record ${previous}: the index only grows.`);
        }
        previous = seq;
      }
      for (let start = 0; start < records.length; start += rowsPerStatement) {
        const rows = records
          .slice(start, start + rowsPerStatement)
          .map(({ seq, hash, type, group, file }) => ({ seq, hash, type, group_name: group ?? null, file }));
        await transaction.insertInto("audit_records").values(rows).execute();
      }
    });
  }
}

function selectHead(kysely: Kysely<Tables>): Promise<{ seq: number; hash: string } | undefined> {
  return kysely.selectFrom("audit_records").select(["seq", "hash"]).orderBy("seq", "desc").limit(1).executeTakeFirst();
}
