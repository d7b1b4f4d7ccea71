import { sql } from "kysely";

import type { Actor } from "../../domain/people/actor.ts";
import type { SettingRecord } from "../../domain/settings/setting.ts";
import type { SettingsStore } from "../contract/settings-store.ts";
import { onDatabase } from "./database/on-database.ts";
import { changeGroup } from "./groups/groups.ts";
import type { Row } from "./schema/tables.ts";

const mostKept = 10_000;

export const sqliteSettings = onDatabase<SettingsStore>({
  record(database, { actor, via, at, changes, settings, group }) {
    const rows = changes.map(({ path, from, to }) => ({
      at,
      actor,
      via,
      path,
      before: toText(from),
      after: toText(to),
    }));
    return database.write(async (transaction) => {
      if (group) await changeGroup(transaction, group.name, group.settings);
      for (const row of rows) await transaction.insertInto("settings_history").values(row).execute();
      const newest = sql<number>`(select coalesce(max(id), 0) from settings_history)`;
      await transaction
        .deleteFrom("settings_history")
        .where("id", "<=", sql<number>`${newest} - ${mostKept}`)
        .execute();
      const row = { id: 1, settings: JSON.stringify(settings) };
      await transaction
        .insertInto("settings_applied")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ settings: row.settings }))
        .execute();
    });
  },

  history: (database, { path, limit }) =>
    database.list(toRecord, (kysely) => {
      const all = kysely.selectFrom("settings_history").selectAll().orderBy("id", "desc").limit(limit);
      if (path === undefined) return all;
      // What stands below a path goes on with a dot or a bracket.
      const below = (mark: string) => sql<boolean>`substr(path, 1, ${path.length + 1}) = ${path + mark}`;
      return all.where((where) => where.or([where("path", "=", path), below("."), below("[")]));
    }),

  async applied(database) {
    const row = await database.read((kysely) =>
      kysely.selectFrom("settings_applied").select("settings").executeTakeFirst(),
    );
    return row && (JSON.parse(row.settings) as unknown);
  },
});

function toText(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function toRecord({ id, at: time, actor, via, path, before, after }: Row<"settings_history">): SettingRecord {
  const from = before === null ? {} : { from: JSON.parse(before) as unknown };
  const to = after === null ? {} : { to: JSON.parse(after) as unknown };
  return { id, time, actor: actor as Actor, via: via as SettingRecord["via"], path, ...from, ...to };
}
