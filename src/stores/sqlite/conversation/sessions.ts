import { sql, type Transaction } from "kysely";

import type { Session } from "../../../domain/turns/session.ts";
import { AppError } from "../../../lib/app-error.ts";
import { type NewSideSession, sessionId, type SessionStore } from "../../contract/session-store.ts";
import type { Database } from "../database/database.ts";
import { onDatabase } from "../database/on-database.ts";
import {
  parseOrigins,
  parseSectionTokens,
  parseTexts,
  parseToldFacts,
  parseOfferedTools,
} from "../schema/json-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { isDue } from "./is-due.ts";
import { statement } from "../database/statement.ts";
import { noteRead } from "./origins.ts";

const selectByKey = statement((kysely, { key }: { readonly key: string }) =>
  kysely.selectFrom("sessions").selectAll().where("key", "=", key),
);

function offeredTools(database: Database, id: string, conversation: number): ReturnType<SessionStore["offered"]> {
  return database.first(
    ({ tools }: Pick<Row<"offered_tools">, "tools">) => parseOfferedTools(tools),
    (kysely) =>
      kysely
        .selectFrom("offered_tools")
        .select("tools")
        .where("session", "=", id)
        .where("conversation", "=", conversation),
  );
}

export const sqliteSessions = onDatabase<SessionStore>({
  /** The key names the chat: when the chat's group gets another name, its session goes with the chat. */
  async open(database, key, group, side) {
    const known = await rowOf(database, key);
    const isReady = known?.group_name === group && known.archived_at === null;
    const row = isReady
      ? known
      : await database.write((transaction) => openSession(transaction, key, { group, ...side }));
    return toSession(opened(row, side?.kind ?? "main"));
  },

  async find(database, key) {
    const row = await rowOf(database, key);
    return row && toSession(row);
  },

  get: (database, id) =>
    database.first(toSession, (kysely) => kysely.selectFrom("sessions").selectAll().where("id", "=", id)),

  list: (database) => database.list(toSession, (kysely) => kysely.selectFrom("sessions").selectAll().orderBy("key")),

  archive: (database, id, at) =>
    database.write(async (transaction) => {
      await refuseRunning(transaction, id, "be archived");
      const row = await transaction
        .updateTable("sessions")
        .set({ archived_at: sql<number>`coalesce(archived_at, ${at})` })
        .where("id", "=", id)
        .returning("id")
        .executeTakeFirst();
      found(row, id);
      await transaction
        .updateTable("work")
        .set({ state: "dropped", reason: "its session was archived" })
        .where("session", "=", id)
        .where(isDue)
        .execute();
    }),

  archiveSettled: (database, at, id) =>
    database.write(async (transaction) => {
      const { rows } = await sql<Row<"sessions">>`
        update sessions set archived_at = ${at}, generation = generation + 1
        where ephemeral = 1 and archived_at is null ${id === undefined ? sql`` : sql`and id = ${id}`}
          and not exists (select 1 from turns where turns.session = sessions.id and turns.state = 'running')
          and not exists (select 1 from work where work.session = sessions.id and work.state = 'due')
          and not exists (select 1 from sessions as children
            where children.parent = sessions.id and children.ephemeral = 1 and children.archived_at is null)
        returning *`.execute(transaction);
      return rows.map(toSession);
    }),

  renew: (database, id) =>
    database.write(async (transaction) => {
      await refuseRunning(transaction, id, "begin a new conversation");
      await renewSession(transaction, id, 0);
    }),

  async nextGeneration(database, id) {
    const row = await database.write((transaction) =>
      transaction
        .updateTable("sessions")
        .set((set) => ({ generation: set("generation", "+", 1) }))
        .where("id", "=", id)
        .returning("generation")
        .executeTakeFirst(),
    );
    return found(row, id).generation;
  },

  async setClearedBefore(database, id, stepSeq) {
    const row = await database.writeSoon((transaction) =>
      transaction
        .updateTable("sessions")
        .set({ cleared_before: sql<number>`max(cleared_before, ${stepSeq})` })
        .where("id", "=", id)
        .returning("id")
        .executeTakeFirst(),
    );
    found(row, id);
  },

  async retirePictures(database, id, { from, captions }) {
    const row = await database.writeSoon((transaction) =>
      transaction
        .updateTable("sessions")
        .set({
          pictures_from: sql<number>`max(pictures_from, ${from})`,
          captions_to: sql<number>`max(captions_to, ${captions})`,
        })
        .where("id", "=", id)
        .returning("id")
        .executeTakeFirst(),
    );
    found(row, id);
  },

  async prompt(database, id) {
    const row = await database.read((kysely) =>
      kysely.selectFrom("conversation_prompts").selectAll().where("session", "=", id).executeTakeFirst(),
    );
    if (!row) return undefined;
    const { conversation, system, told, sections, origins } = row;
    return {
      conversation,
      system: parseTexts(system),
      told: parseToldFacts(told),
      origins: parseOrigins(origins),
      ...(sections !== null && { sections: parseSectionTokens(sections) }),
    };
  },

  async setPrompt(database, id, prompt, { turn, ...read }) {
    const { conversation, system, told, sections } = prompt;
    const values = {
      conversation,
      system: JSON.stringify(system),
      told: JSON.stringify(told),
      sections: sections === undefined ? null : JSON.stringify(sections),
    };
    return database.writeSoon(async (transaction) => {
      const origins = await noteRead(transaction, turn, read);
      const all = { ...values, origins: JSON.stringify(origins) };
      await transaction
        .insertInto("conversation_prompts")
        .values({ session: id, ...all })
        .onConflict((conflict) => conflict.column("session").doUpdateSet(all))
        .execute();
      return { ...prompt, origins };
    });
  },

  offered: offeredTools,

  async offerTools(database, id, conversation, tools) {
    const known = await offeredTools(database, id, conversation);
    if (known) return known;
    const row = { session: id, conversation, tools: JSON.stringify(tools) };
    await database.writeSoon((transaction) =>
      transaction
        .insertInto("offered_tools")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column("session")
            .doUpdateSet({ conversation, tools: row.tools })
            .where("offered_tools.conversation", "<", conversation),
        )
        .execute(),
    );
    return parseOfferedTools(row.tools);
  },

  async extendOffer(database, id, conversation, tools) {
    const json = JSON.stringify(tools);
    await database.writeSoon((transaction) =>
      transaction
        .updateTable("offered_tools")
        .set({ tools: json })
        .where("session", "=", id)
        .where("conversation", "=", conversation)
        .execute(),
    );
    return parseOfferedTools(json);
  },

  async nextMailboxBlock(database, id) {
    const row = await database.write((transaction) =>
      transaction
        .updateTable("sessions")
        .set((set) => ({ mailbox_block: set("mailbox_block", "+", 1) }))
        .where("id", "=", id)
        .returning("mailbox_block")
        .executeTakeFirst(),
    );
    return found(row, id).mailbox_block;
  },
});

async function rowOf(database: Database, key: string): Promise<Row<"sessions"> | undefined> {
  const [row] = await database.read((kysely) => selectByKey(kysely, { key }));
  return row;
}

/** Inside the caller's transaction: makes it if it is new, and revives an ephemeral one that was archived. */
export async function openSession(
  transaction: Transaction<Tables>,
  key: string,
  { group, kind = "main", parent, ephemeral = false }: OpenedSession,
): Promise<Row<"sessions">> {
  const row = await transaction
    .insertInto("sessions")
    .values({
      id: sessionId(key),
      key,
      group_name: group,
      conversation: 1,
      generation: 0,
      context_cursor: 0,
      window_start: 0,
      mailbox_block: 0,
      kind,
      parent: parent ?? null,
      ephemeral: Number(ephemeral),
    })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ group_name: group }))
    .returningAll()
    .executeTakeFirstOrThrow();
  if (row.archived_at === null || row.ephemeral !== 1 || !ephemeral) return row;
  return reviveSession(transaction, row.id, parent);
}

/** Begins a new conversation in an archived session. */
export async function reviveSession(
  transaction: Transaction<Tables>,
  id: string,
  parent?: string,
): Promise<Row<"sessions">> {
  await renewSession(transaction, id, 0);
  return transaction
    .updateTable("sessions")
    .set({ archived_at: null, ...(parent !== undefined && { parent }) })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface OpenedSession extends Partial<Omit<NewSideSession, "kind">> {
  readonly group: string;
  readonly kind?: Session["kind"] | undefined;
}

/** Throws `conflict` for a session of another kind, and for one that was archived. */
export function opened(row: Row<"sessions">, kind: Session["kind"]): Row<"sessions"> {
  const { key } = row;
  if (row.kind !== kind) throw new AppError("conflict", `The session ${key} is of kind ${row.kind}, not ${kind}.`);
  if (row.archived_at !== null) throw new AppError("conflict", `The session ${key} was archived.`);
  return row;
}

async function refuseRunning(transaction: Transaction<Tables>, id: string, what: string): Promise<void> {
  const running = await transaction
    .selectFrom("turns")
    .select("id")
    .where("session", "=", id)
    .where(sql<boolean>`state = 'running'`)
    .executeTakeFirst();
  if (running) throw new AppError("conflict", `Session ${id} cannot ${what}: turn ${running.id} runs in it.`);
}

/**
 * Begins a new conversation inside the caller's transaction: messages up to `upTo` count as shown, nothing is sent of
 * what was before. The container of the old one belongs to an earlier generation from then on, so that it is not used
 * again even if the host does not get to end it.
 */
export async function renewSession(transaction: Transaction<Tables>, id: string, upTo: number): Promise<void> {
  const row = await transaction
    .updateTable("sessions")
    .set((set) => ({
      conversation: set("conversation", "+", 1),
      generation: set("generation", "+", 1),
      window_start: 0,
      pictures_from: 0,
      captions_to: 0,
      context_cursor: sql<number>`max(context_cursor, ${upTo})`,
    }))
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  found(row, id);
}

function found<T>(row: T | undefined, id: string): T {
  if (row === undefined) throw new AppError("not_found", `There is no session ${id}.`);
  return row;
}

function toSession(row: Row<"sessions">): Session {
  return {
    id: row.id,
    key: row.key,
    kind: row.kind,
    group: row.group_name,
    parent: row.parent ?? undefined,
    ephemeral: row.ephemeral === 1 ? true : undefined,
    archivedAt: row.archived_at ?? undefined,
    conversation: row.conversation,
    generation: row.generation,
    contextCursor: row.context_cursor,
    windowStart: row.window_start,
    clearedBefore: row.cleared_before,
    ...(row.pictures_from > 0 && { retired: { from: row.pictures_from, captions: row.captions_to } }),
  };
}
