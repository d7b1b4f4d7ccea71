import { type Kysely, sql } from "kysely";

import { AppError } from "../../../lib/app-error.ts";
import type { AuditIndex } from "../../contract/store.ts";
import { onDatabase } from "../database/on-database.ts";
import type { Tables } from "../schema/tables.ts";

export const sqliteAuditIndex = onDatabase<AuditIndex>({
  head: (database) => database.read((kysely) => selectHead(kysely)),

  async signed(database) {
    const row = await database.read((kysely) =>
      kysely.selectFrom("audit_signed").select("seq").where("id", "=", 1).executeTakeFirst(),
    );
    return row?.seq;
  },

  async willSign(database, seq) {
    await database.write((transaction) =>
      transaction
        .insertInto("audit_signed")
        .values({ id: 1, seq })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ seq }))
        .execute(),
    );
  },

  /** Throws AppError `conflict` and stores nothing when a record does not come after the head. */
  append: (database, records) =>
    database.writeSoon(async (transaction) => {
      let previous = (await selectHead(transaction))?.seq ?? 0;
      for (const { seq } of records) {
        if (seq <= previous) {
          throw new AppError("conflict", `Audit record ${seq} cannot follow record ${previous}: the index only grows.`);
        }
        previous = seq;
      }
      // One statement however many there are.
      await sql`
        insert into audit_records (seq, hash, type, group_name, file)
        select value ->> 'seq', value ->> 'hash', value ->> 'type', value ->> 'group', value ->> 'file'
        from json_each(${JSON.stringify(records)})`.execute(transaction);
    }),
});

function selectHead(kysely: Kysely<Tables>): Promise<{ seq: number; hash: string } | undefined> {
  return kysely.selectFrom("audit_records").select(["seq", "hash"]).orderBy("seq", "desc").limit(1).executeTakeFirst();
}
