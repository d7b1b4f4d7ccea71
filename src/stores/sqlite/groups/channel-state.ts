import type { ChannelStateStore } from "../../contract/store.ts";
import { onDatabase } from "../database/on-database.ts";

/** SQLite takes 32,766 values in one statement. */
const rowsAtOnce = 1_000;

export const sqliteChannelState = onDatabase<ChannelStateStore>({
  async read(database, space, keys) {
    const found = new Map<string, Uint8Array>();
    for (const some of inParts([...new Set(keys)])) {
      const rows = await database.read((kysely) =>
        kysely
          .selectFrom("channel_state")
          .select(["key", "value"])
          .where("space", "=", space)
          .where("key", "in", some)
          .execute(),
      );
      for (const { key, value } of rows) found.set(key, value);
    }
    return found;
  },

  async list(database, space) {
    const rows = await database.read((kysely) =>
      kysely.selectFrom("channel_state").select(["key", "value"]).where("space", "=", space).orderBy("key").execute(),
    );
    return new Map(rows.map(({ key, value }) => [key, value]));
  },

  async apply(database, space, changes) {
    const entries = [...changes];
    const removed = entries.filter(([, value]) => value === null).map(([key]) => key);
    const set = entries.flatMap(([key, value]) => (value === null ? [] : [{ space, key, value: Buffer.from(value) }]));
    if (entries.length === 0) return;
    await database.write(async (transaction) => {
      for (const keys of inParts(removed)) {
        await transaction.deleteFrom("channel_state").where("space", "=", space).where("key", "in", keys).execute();
      }
      for (const rows of inParts(set)) {
        await transaction
          .insertInto("channel_state")
          .values(rows)
          .onConflict((conflict) =>
            conflict.columns(["space", "key"]).doUpdateSet((row) => ({ value: row.ref("excluded.value") })),
          )
          .execute();
      }
    });
  },

  async rename(database, space, to) {
    if (space === to) return;
    await database.write(async (transaction) => {
      await transaction.deleteFrom("channel_state").where("space", "=", to).execute();
      await transaction.updateTable("channel_state").set({ space: to }).where("space", "=", space).execute();
    });
  },
});

function inParts<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  for (let start = 0; start < items.length; start += rowsAtOnce) parts.push(items.slice(start, start + rowsAtOnce));
  return parts;
}
