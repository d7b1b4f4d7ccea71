import { sql, type Transaction } from "kysely";

import type { GroupChat, GroupFolder, StoredGroup } from "../../../domain/chats/group.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { GroupStore } from "../../contract/store.ts";
import type { Database } from "../database/database.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseGroupSettings, parseOrigins } from "../schema/json-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";

type FolderRow = Row<"group_folders"> & Nullable<Omit<Row<"group_instructions">, "group_name">>;
type Nullable<Columns> = { readonly [Name in keyof Columns]: Columns[Name] | null };

export const sqliteGroups = onDatabase<GroupStore>({
  list: (database) => database.list(toGroup, (kysely) => kysely.selectFrom("groups").selectAll().orderBy("name")),

  add: (database, group) =>
    database.write(async (transaction) => {
      const taken = await transaction
        .selectFrom("groups")
        .select(["name", "channel", "chat"])
        .where((where) =>
          where.or([
            where("name", "=", group.name),
            where.and([where("channel", "=", group.channel), where("chat", "=", group.chat)]),
          ]),
        )
        .executeTakeFirst();
      if (taken) throw new AppError("conflict", conflictSentence(group, taken));
      await transaction
        .insertInto("groups")
        .values({
          name: group.name,
          channel: group.channel,
          chat: group.chat,
          settings: JSON.stringify(group.settings),
        })
        .execute();
    }),

  async change(database, name, settings) {
    await database.write((transaction) => changeGroup(transaction, name, settings));
  },

  async remove(database, name) {
    const { numDeletedRows } = await database.write((transaction) =>
      transaction.deleteFrom("groups").where("name", "=", name).executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  },

  async folder(database, name) {
    const [folder] = await foldersWhere(database, name);
    return folder;
  },

  folders: (database) => foldersWhere(database, undefined),

  async claimFolder(database, { name, channel, chat }) {
    const row = { name, channel, chat };
    await database.write((transaction) =>
      transaction
        .insertInto("group_folders")
        .values(row)
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ channel, chat }))
        .execute(),
    );
  },

  earlierChat: (database, { name, channel, chat }) =>
    database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .select(["channel", "chat"])
        .where("group_name", "=", name)
        .where(sql<boolean>`state <> 'handled'`)
        .where((where) => where.or([where("channel", "<>", channel), where("chat", "<>", chat)]))
        .limit(1)
        .executeTakeFirst(),
    ),

  async noteInstructions(database, name, file, state) {
    const { sha256, bytes, origins, changedAt } = state;
    const facts = { sha256, bytes, origins: JSON.stringify(origins), changed_at: changedAt ?? null };
    await database.writeSoon(async (transaction) => {
      const claimed = await transaction.selectFrom("group_folders").select("name").where("name", "=", name).execute();
      if (claimed.length === 0) return;
      await transaction
        .insertInto("group_instructions")
        .values({ group_name: name, file, ...facts })
        .onConflict((conflict) => conflict.columns(["group_name", "file"]).doUpdateSet(facts))
        .execute();
    });
  },

  ordinal: (database, name) =>
    database.write(async (transaction) => {
      const known = await transaction
        .selectFrom("ordinals")
        .select("ordinal")
        .where("group_name", "=", name)
        .executeTakeFirst();
      if (known) return known.ordinal;
      const { ordinal } = await transaction
        .insertInto("ordinals")
        .values({ group_name: name, ordinal: sql<number>`(select coalesce(max(ordinal) + 1, 0) from ordinals)` })
        .returning("ordinal")
        .executeTakeFirstOrThrow();
      return ordinal;
    }),
});

/** Those of all groups, by name, or of this one. */
async function foldersWhere(database: Database, name: string | undefined): Promise<GroupFolder[]> {
  const rows = await database.read((kysely) =>
    kysely
      .selectFrom("group_folders")
      .leftJoin("group_instructions", "group_name", "name")
      .select(["name", "channel", "chat", "file", "sha256", "bytes", "changed_at", "origins"])
      .$if(name !== undefined, (query) => query.where("name", "=", name ?? ""))
      .orderBy("name")
      .execute(),
  );
  const byName = Map.groupBy(rows, (row) => row.name);
  return [...byName.values()].flatMap(toFolder);
}

/** Replaces what a stored group says itself, together with other writes. */
export async function changeGroup(
  transaction: Transaction<Tables>,
  name: string,
  settings: StoredGroup["settings"],
): Promise<void> {
  await transaction
    .updateTable("groups")
    .set({ settings: JSON.stringify(settings) })
    .where("name", "=", name)
    .execute();
}

/** One row for each file of a folder, or one without a file. */
function toFolder(rows: readonly FolderRow[]): GroupFolder[] {
  const [first] = rows;
  if (!first) return [];
  const { name, channel, chat } = first;
  const instructions = rows.flatMap(({ file, sha256, bytes, changed_at: at, origins }) => {
    if (file === null) return [];
    const facts = { sha256: sha256 ?? "", bytes: bytes ?? 0, changedAt: at ?? undefined };
    return [[file, { ...facts, origins: parseOrigins(origins ?? "[]") }] as const];
  });
  return [{ name, channel, chat, instructions: new Map(instructions) }];
}

function conflictSentence(group: GroupChat, taken: Pick<Row<"groups">, "name" | "channel" | "chat">): string {
  return taken.name === group.name
    ? `Group ${group.name} already exists; remove it first, or choose another name.`
    : `The chat ${group.chat} of channel ${group.channel} already belongs to the group ${taken.name}.`;
}

function toGroup({ name, channel, chat, settings }: Row<"groups">): StoredGroup {
  return { name, channel, chat, settings: parseGroupSettings(settings) };
}
