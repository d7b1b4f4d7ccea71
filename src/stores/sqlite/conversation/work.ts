import type { Transaction } from "kysely";

import { sideSessionKey, type SideSession } from "../../../domain/turns/session.ts";
import { inherit, type Lineage } from "../../../domain/rights/lineage.ts";
import type { NewWork, Work } from "../../../domain/work/work.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { AddedWork, WorkStore } from "../../contract/work-store.ts";
import { parseReplyTarget } from "../schema/json-columns.ts";
import { toLineage, toLineageColumns } from "../schema/lineage-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { onDatabase } from "../database/on-database.ts";
import { statement } from "../database/statement.ts";
import { isDue } from "./is-due.ts";
import { opened, openSession, reviveSession } from "./sessions.ts";

const selectDue = statement((kysely, { session, now }: { readonly session: string; readonly now: number }) =>
  kysely
    .selectFrom("work")
    .selectAll()
    .where("session", "=", session)
    .where(isDue)
    .where("due_at", "<=", now)
    .orderBy("due_at")
    .orderBy("seq")
    .limit(1),
);

export const sqliteWork = onDatabase<WorkStore>({
  add(database, work, at, options = {}) {
    const { dedupe } = work;
    const { uniqueForMs } = options;
    return database.write(async (transaction) => {
      if (uniqueForMs !== undefined && dedupe !== undefined) await freeName(transaction, dedupe, at - uniqueForMs);
      return insertWork(transaction, work, at);
    });
  },

  async isKnown(database, dedupe) {
    const row = await database.read((kysely) =>
      kysely.selectFrom("work").select("seq").where("dedupe", "=", dedupe).executeTakeFirst(),
    );
    return row !== undefined;
  },

  async dueCount(database, group, cause) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("work")
        .select((select) => select.fn.countAll<number>().as("count"))
        .where("group_name", "=", group)
        .where(isDue)
        .where("cause", "=", cause)
        .executeTakeFirstOrThrow(),
    );
    return row.count;
  },

  addAside: (database, work, side, at) => database.write((transaction) => insertWorkAside(transaction, work, side, at)),

  get: (database, id) => database.first(toWork, (kysely) => kysely.selectFrom("work").selectAll().where("id", "=", id)),

  idsBeginningWith: (database, prefix, limit) => database.idsBeginningWith("work", prefix, limit),

  async due(database, session, now) {
    const [row] = await database.read((kysely) => selectDue(kysely, { session, now }));
    return row && toWork(row);
  },

  async dueSessions(database, now) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("work")
        .innerJoin("sessions", "sessions.id", "work.session")
        .select(["sessions.key", "sessions.group_name"])
        .where(isDue)
        .where("work.due_at", "<=", now)
        .groupBy("work.session")
        .orderBy((order) => order.fn.min("work.due_at"))
        .execute(),
    );
    return rows.map(({ key, group_name: group }) => ({ key, group }));
  },

  async nextDueAt(database, now) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("work")
        .select("due_at")
        .where(isDue)
        .where("due_at", ">", now)
        .orderBy("due_at")
        .limit(1)
        .executeTakeFirst(),
    );
    return row?.due_at;
  },

  list: (database, { group, state, limit }) =>
    database.list(toWork, (kysely) => {
      let newest = kysely.selectFrom("work").selectAll().orderBy("seq", "desc").limit(limit);
      if (group !== undefined) newest = newest.where("group_name", "=", group);
      if (state !== undefined) newest = newest.where("state", "=", state);
      return newest;
    }),

  ofTurn: (database, turn) =>
    database.first(toWork, (kysely) =>
      kysely.selectFrom("work").selectAll().where("turn", "=", turn).orderBy("seq").limit(1),
    ),

  /** Nothing happens for a turn that is not `failed`: what was done is never done twice. */
  async requeue(database, turn) {
    const { numUpdatedRows } = await database.write((transaction) =>
      transaction
        .updateTable("work")
        .set({ state: "due", turn: null })
        .where("turn", "=", turn)
        .where("state", "=", "settled")
        .where((where) =>
          where.exists(
            where
              .selectFrom("turns")
              .select("turns.id")
              .where("turns.id", "=", turn)
              .where("turns.state", "=", "failed"),
          ),
        )
        .executeTakeFirstOrThrow(),
    );
    return Number(numUpdatedRows);
  },

  drop: (database, id, reason) => database.write((transaction) => dropWork(transaction, id, reason)),
});

/** Work of this name that was made by then has it no longer. */
async function freeName(transaction: Transaction<Tables>, dedupe: string, until: number): Promise<void> {
  await transaction
    .updateTable("work")
    .set({ dedupe: null })
    .where("dedupe", "=", dedupe)
    .where("created_at", "<=", until)
    .execute();
}

/** Inside the caller's transaction: with what causes the work. */
export async function insertWork(transaction: Transaction<Tables>, work: NewWork, at: number): Promise<AddedWork> {
  const { id, dedupe = null, lineage, payload = null } = work;
  const known = await duplicateOf(transaction, work);
  if (known) return { seq: known.seq, id: known.id, duplicate: true };
  const session = await transaction
    .selectFrom("sessions")
    .select(["archived_at", "ephemeral"])
    .where("id", "=", work.session)
    .executeTakeFirst();
  if (!session)
    throw new AppError("not_found", `Work ${work.id} cannot be stored: there is no session ${work.session}.`);
  if (session.archived_at !== null && session.ephemeral === 1) await reviveSession(transaction, work.session);
  else if (session.archived_at !== null)
    throw new AppError("conflict", `Work ${work.id} cannot be stored: session ${work.session} was archived.`);
  const row = await transaction
    .insertInto("work")
    .values({
      id,
      group_name: work.group,
      session: work.session,
      cause: work.cause,
      due_at: Math.round(work.dueAt),
      dedupe,
      reply_to: JSON.stringify(work.replyTo),
      origin: work.origin,
      ...toLineageColumns(lineage),
      text: work.text,
      payload,
      state: "due",
      turn: null,
      reason: null,
      created_at: at,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("seq")
    .executeTakeFirst();
  if (!row) throw new AppError("conflict", `There is other work of the id ${work.id}.`);
  return { seq: row.seq, id, duplicate: false };
}

/** The same, in a session beside the group's main one, which is opened with it. */
export async function insertWorkAside(
  transaction: Transaction<Tables>,
  work: Omit<NewWork, "group" | "session">,
  { group, ...side }: SideSession,
  at: number,
): Promise<AddedWork & { session: string }> {
  const known = await duplicateOf(transaction, work);
  if (known) return { seq: known.seq, id: known.id, duplicate: true, session: known.session };
  const row = await openSession(transaction, sideSessionKey(group, side), { group: group.name, ...side });
  const { id: session } = opened(row, side.kind);
  return { ...(await insertWork(transaction, { ...work, group: group.name, session }, at)), session };
}

async function duplicateOf(
  transaction: Transaction<Tables>,
  { dedupe }: Pick<NewWork, "dedupe">,
): Promise<Pick<Row<"work">, "seq" | "id" | "session"> | undefined> {
  if (dedupe === undefined) return undefined;
  return transaction
    .selectFrom("work")
    .select(["seq", "id", "session"])
    .where("dedupe", "=", dedupe)
    .executeTakeFirst();
}

/** Returns the lineage that the turn inherits. */
export async function takeWork(
  transaction: Transaction<Tables>,
  turn: Row<"turns">,
  { seq, lineage }: { readonly seq: number; readonly lineage: Lineage },
): Promise<Lineage> {
  const row = await transaction
    .updateTable("work")
    // At the end of a turn that messages began nobody looks for work: what it takes on its way is settled with the
    // step.
    .set({ state: turn.cause === "message" ? "settled" : "taken", turn: turn.id })
    .where("seq", "=", seq)
    .where("session", "=", turn.session)
    .where(isDue)
    .returning(["role", "origins", "people", "narrowed"])
    .executeTakeFirst();
  if (!row) throw new AppError("gone", `Work ${seq} is not due in session ${turn.session} anymore.`);
  return inherit([toLineage(row), lineage]);
}

export async function settleWork(transaction: Transaction<Tables>, turn: string): Promise<void> {
  await transaction
    .updateTable("work")
    .set({ state: "settled" })
    .where("turn", "=", turn)
    .where("state", "=", "taken")
    .execute();
}

/** Drops work; false when it is no longer due. */
export async function dropWork(transaction: Transaction<Tables>, id: string, reason: string): Promise<boolean> {
  const row = await transaction
    .updateTable("work")
    .set({ state: "dropped", reason })
    .where("id", "=", id)
    .where(isDue)
    .returning("seq")
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives up all of a session's work that no turn has taken. */
export async function dropWorkOf(transaction: Transaction<Tables>, session: string, reason: string): Promise<void> {
  await transaction
    .updateTable("work")
    .set({ state: "dropped", reason })
    .where("session", "=", session)
    .where(isDue)
    .execute();
}

/** Work of all sessions of a group that is due by now. */
export async function dueWorkOf(transaction: Transaction<Tables>, group: string, now: number): Promise<Work[]> {
  const rows = await transaction
    .selectFrom("work")
    .selectAll()
    .where("group_name", "=", group)
    .where(isDue)
    .where("due_at", "<=", now)
    .orderBy("seq")
    .execute();
  return rows.map(toWork);
}

function toWork(row: Row<"work">): Work {
  return {
    seq: row.seq,
    id: row.id,
    group: row.group_name,
    session: row.session,
    cause: row.cause,
    dueAt: row.due_at,
    dedupe: row.dedupe ?? undefined,
    replyTo: parseReplyTarget(row.reply_to),
    origin: row.origin,
    lineage: toLineage(row),
    text: row.text,
    payload: row.payload ?? undefined,
    state: row.state,
    turn: row.turn ?? undefined,
    reason: row.reason ?? undefined,
    createdAt: row.created_at,
  };
}
