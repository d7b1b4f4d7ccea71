import { type ExpressionBuilder, sql, type Transaction } from "kysely";

import type { BlobPart } from "../../domain/chats/part.ts";
import type { BlobStore } from "../contract/blob-store.ts";
import { onDatabase } from "./database/on-database.ts";
import type { Row, Tables } from "./schema/tables.ts";

type CaptionRow = ExpressionBuilder<Tables, "picture_captions">;

/** Retention of captions of unreferenced pictures: groups whose models cannot see keep only the words. */
const captionMs = 30 * 86_400_000;

export const sqliteBlobs = onDatabase<BlobStore>({
  async known(database, sha256s) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("blobs")
        .selectAll()
        .select(sql<number>`(select count(*) from blob_references r where r.sha256 = blobs.sha256)`.as("references"))
        .where(sql<boolean>`sha256 in (select value from json_each(${JSON.stringify(sha256s)}))`)
        .execute(),
    );
    return rows.map(({ mime_type, created_at, ...row }) => ({ ...row, mimeType: mime_type, createdAt: created_at }));
  },

  async bytesOf(database, group) {
    const { rows } = await database.read((kysely) =>
      sql<{ bytes: number }>`
        select coalesce(sum(bytes), 0) as bytes from blobs where sha256 in (
          select blob_references.sha256 from blob_references
          join steps on steps.seq = blob_references.step
          join sessions on sessions.id = steps.session
          where sessions.group_name = ${group})`.execute(kysely),
    );
    return rows[0]?.bytes ?? 0;
  },

  async captionsOf(database, sha256s, upTo = Number.MAX_SAFE_INTEGER) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("picture_captions")
        .select(["sha256", "caption"])
        .where("seq", "<=", upTo)
        .where(sql<boolean>`sha256 in (select value from json_each(${JSON.stringify(sha256s)}))`)
        .execute(),
    );
    return new Map(rows.map(({ sha256, caption }) => [sha256, caption]));
  },

  keepCaption: (database, { sha256, caption, at }) =>
    database.write(async (transaction) => {
      const same = { caption: (row: CaptionRow) => row.ref("picture_captions.caption") };
      const kept = await transaction
        .insertInto("picture_captions")
        .values({ sha256, caption, at })
        .onConflict((conflict) => conflict.column("sha256").doUpdateSet(same))
        .returning("caption")
        .executeTakeFirstOrThrow();
      return kept.caption;
    }),

  async lastCaption(database) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("picture_captions")
        .select(({ fn }) => fn.max("seq").as("last"))
        .executeTakeFirst(),
    );
    return row?.last ?? 0;
  },

  forget: (database, before, limit) =>
    database.writeSoon(async (transaction) => {
      const { numAffectedRows = 0n } = await sql`
        delete from blobs where sha256 in (
          select sha256 from blobs
          where created_at < ${before} and sha256 not in (select sha256 from blob_references) limit ${limit})`.execute(
        transaction,
      );
      await sql`
        delete from picture_captions
        where at < ${before - captionMs} and sha256 not in (select sha256 from blob_references)`.execute(transaction);
      return Number(numAffectedRows);
    }),
});

/** Notes inside the caller's transaction that a step refers to these; nothing is to do for a step of text. */
export async function referToBlobs(
  transaction: Transaction<Tables>,
  step: Pick<Row<"steps">, "seq" | "at">,
  blobs: readonly BlobPart[],
): Promise<void> {
  for (const { blob: sha256, bytes, mimeType } of blobs) {
    await transaction
      .insertInto("blobs")
      .values({ sha256, bytes, mime_type: mimeType, created_at: step.at })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await transaction
      .insertInto("blob_references")
      .values({ step: step.seq, sha256 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
