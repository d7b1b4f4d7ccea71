import { type Kysely, sql, type Transaction } from "kysely";

import { sortOrigins, type Exposure, type Origin } from "../../../domain/people/origin.ts";
import type { TextSources } from "../../../domain/rights/sourced.ts";
import { inherit, type Lineage, withOrigins } from "../../../domain/rights/lineage.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { OriginStore } from "../../contract/origin-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseOrigins } from "../schema/json-columns.ts";
import { toLineage, toLineageColumns } from "../schema/lineage-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { statement } from "../database/statement.ts";

export const sqliteOrigins = onDatabase<OriginStore>({
  async lineage(database, turn) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("turns")
        .select(["role", "origins", "people", "narrowed"])
        .where("id", "=", turn)
        .executeTakeFirst(),
    );
    if (!row) throw new AppError("not_found", `There is no turn ${turn}.`);
    return toLineage(row);
  },

  async ofSession(database, session) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("turns")
        .select("origins")
        .where("session", "=", session)
        .orderBy("seq", "desc")
        .limit(1)
        .executeTakeFirst(),
    );
    return row ? parseOrigins(row.origins) : [];
  },

  note: (database, turn, origins, folders = []) =>
    database.write(async (transaction) => void (await noteRead(transaction, turn, { origins, folders }))),

  async ofFolder(database, group) {
    const rows = await database.read((kysely) => folderRows(kysely, group));
    return sortOrigins(rows.map(({ origin }) => origin)).flatMap((sorted) =>
      rows
        .filter(({ origin }) => origin === sorted)
        .map(({ origin, since, turn }) => ({ origin, since, turn: turn ?? undefined })),
    );
  },

  async reach(database, group, origin, at) {
    // Nearly always all of it is known already, which is found out without a write.
    const isNew = await database.read(async (kysely) => {
      const carried = await folderRows(kysely, group);
      if (carried.every((row) => row.origin !== origin)) return true;
      return (await newestTurns(kysely, group)).some(({ origins }) => !parseOrigins(origins).includes(origin));
    });
    if (!isNew) return;
    await database.write(async (transaction) => {
      await leaveInFolder(transaction, { group, origins: [origin], at, turn: null });
      for (const turn of await newestTurns(transaction, group)) await addToTurn(transaction, turn, [origin]);
    });
  },

  clearFolder: (database, group, origin) =>
    database.write(async (transaction) => {
      const all = transaction.deleteFrom("folder_origins").where("group_name", "=", group).returning("origin");
      const rows = await (origin === undefined ? all : all.where("origin", "=", origin)).execute();
      return sortOrigins(rows.map((row) => row.origin));
    }),
});

/** Origins of a conversation's newest turn, which has read all that the turns before it have. */
export const selectLastOrigins = statement(
  (kysely, { session, conversation }: { readonly session: string; readonly conversation: number }) =>
    kysely
      .selectFrom("turns")
      .select("origins")
      .where("session", "=", session)
      .where("conversation", "=", conversation)
      .orderBy("seq", "desc")
      .limit(1),
);

/** Lineage of a turn as it begins: of its cause, with what its conversation has read before. */
export async function lineageAtFirst(
  transaction: Transaction<Tables>,
  { session, conversation }: { readonly session: string; readonly conversation: number },
  cause: Lineage,
): Promise<Lineage> {
  const [before] = await selectLastOrigins(transaction, { session, conversation });
  return withOrigins(cause, before ? parseOrigins(before.origins) : []);
}

/** The turn answers something of these lineages, too, from now on. Returns it as it is then. */
export async function joinTurn(
  transaction: Transaction<Tables>,
  turn: Row<"turns">,
  joining: readonly Lineage[],
): Promise<Row<"turns">> {
  const { role, origins, people, narrowed } = toLineageColumns(inherit([toLineage(turn), ...joining]));
  const joined = { ...turn, role, origins, people, narrowed };
  const isKnown =
    role === turn.role && origins === turn.origins && people === turn.people && narrowed === turn.narrowed;
  if (!isKnown)
    await transaction.updateTable("turns").set({ role, origins, people, narrowed }).where("id", "=", turn.id).execute();
  return joined;
}

/**
 * Notes what a turn, as it is in this transaction, comes into contact with. What it reads in the folder comes before
 * what it leaves there.
 */
export async function expose(
  transaction: Transaction<Tables>,
  turn: Pick<Row<"turns">, "id" | "group_name" | "origins">,
  { origins, folders, writesFolder, at }: Exposure & { readonly at: number },
): Promise<void> {
  const { group_name: group, id } = turn;
  const carried = await rowsOf(transaction, folders);
  const read = await addToTurn(transaction, turn, [...origins, ...carried.map(({ origin }) => origin)]);
  if (!writesFolder) return;
  const own = carried.filter(({ group_name: name }) => name === group).map(({ origin }) => origin);
  const left = read.filter((origin) => !own.includes(origin));
  await leaveInFolder(transaction, { group, origins: left, at, turn: id });
}

/** Notes what a turn has read. Returns the origins of these sources now. */
export async function noteRead(
  transaction: Transaction<Tables>,
  id: string,
  { origins, folders }: TextSources,
): Promise<readonly Origin[]> {
  const turn = await transaction.selectFrom("turns").select(["id", "origins"]).where("id", "=", id).executeTakeFirst();
  if (!turn) throw new AppError("not_found", `There is no turn ${id}.`);
  const read = [...origins, ...(await rowsOf(transaction, folders)).map(({ origin }) => origin)];
  await addToTurn(transaction, turn, read);
  return sortOrigins(read);
}

async function rowsOf(kysely: Kysely<Tables>, folders: readonly string[]): Promise<Row<"folder_origins">[]> {
  return (await Promise.all(folders.map((name) => folderRows(kysely, name)))).flat();
}

/** Inside the caller's transaction: with what brings it there. */
export async function leaveInFolder(
  transaction: Transaction<Tables>,
  options: {
    readonly group: string;
    readonly origins: readonly Origin[];
    readonly at: number;
    readonly turn: string | null;
  },
): Promise<void> {
  const { group, origins, at, turn } = options;
  if (origins.length === 0) return;
  await transaction
    .insertInto("folder_origins")
    .values(origins.map((origin) => ({ group_name: group, origin, since: at, turn })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns all that the turn has read by then. */
async function addToTurn(
  transaction: Transaction<Tables>,
  { id, origins }: Pick<Row<"turns">, "id" | "origins">,
  more: readonly Origin[],
): Promise<readonly Origin[]> {
  const before = parseOrigins(origins);
  const all = sortOrigins([...before, ...more]);
  if (all.length === before.length) return all;
  await transaction
    .updateTable("turns")
    .set({ origins: JSON.stringify(all) })
    .where("id", "=", id)
    .execute();
  return all;
}

function folderRows(kysely: Kysely<Tables>, group: string): Promise<Row<"folder_origins">[]> {
  return kysely.selectFrom("folder_origins").selectAll().where("group_name", "=", group).execute();
}

function newestTurns(kysely: Kysely<Tables>, group: string): Promise<Pick<Row<"turns">, "id" | "origins">[]> {
  return kysely
    .selectFrom("turns")
    .select(["id", "origins"])
    .where(
      sql<boolean>`seq in (
        select (select max(turns.seq) from turns where turns.session = sessions.id)
        from sessions where sessions.group_name = ${group} and sessions.archived_at is null)`,
    )
    .execute();
}
