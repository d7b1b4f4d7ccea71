import { sql, type Transaction } from "kysely";

import { type Origin, sortOrigins } from "../../../domain/people/origin.ts";
import type { Summary } from "../../../domain/turns/summary.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { SummaryStore } from "../../contract/summary-store.ts";
import type { Database } from "../database/database.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseOrigins, parseStepBody } from "../schema/json-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { selectLastOrigins } from "./origins.ts";
import { insertOutgoing } from "./outbox.ts";
import { refuseFenced } from "./turns.ts";

/** More that follow each other there are not: a new one takes in the ones before it. */
const mostInCover = 64;

interface Place {
  readonly session: string;
  readonly conversation: number;
}

export const sqliteSummaries = onDatabase<SummaryStore>({
  async cover(database, session, conversation, before) {
    const cover: Row<"summaries">[] = [];
    for (let end = before; cover.length < mostInCover;) {
      const [row] = await database.read((kysely) =>
        kysely
          .selectFrom("summaries")
          .selectAll()
          .where("session", "=", session)
          .where("conversation", "=", conversation)
          .where("to_step", "<", end)
          .orderBy("to_step", "desc")
          .orderBy("seq", "desc")
          .limit(1)
          .execute(),
      );
      if (!row) break;
      cover.unshift(row);
      end = row.from_step;
    }
    return cover.map(toSummary);
  },

  add: (database, summary, { windowStart }, lease) =>
    database.write(async (transaction) => {
      const { session, conversation } = summary;
      const place = await transaction
        .selectFrom("sessions")
        .select(["conversation", "window_start", "lease_generation"])
        .where("id", "=", session)
        .executeTakeFirst();
      if (!place) throw new AppError("not_found", `There is no session ${session}.`);
      refuseFenced(lease, place.lease_generation);
      if (place.conversation !== conversation || place.window_start !== windowStart) return undefined;
      const row = await transaction
        .insertInto("summaries")
        .values({
          session,
          conversation,
          kind: summary.kind,
          from_step: summary.fromStep,
          to_step: summary.toStep,
          from_entry: (await countSteps(transaction, summary, summary.fromStep - 1)) + 1,
          to_entry: await countSteps(transaction, summary, summary.toStep),
          text: summary.text,
          tokens: summary.tokens,
          model: summary.model ?? null,
          made_at: summary.madeAt,
          origins: JSON.stringify(await originsSoFar(transaction, summary)),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await transaction
        .updateTable("sessions")
        .set({ window_start: summary.toStep + 1 })
        .where("id", "=", session)
        .execute();
      // Notes of what has changed may be among what is covered: the prompt says it all anew.
      await transaction.deleteFrom("conversation_prompts").where("session", "=", session).execute();
      return toSummary(row);
    }),

  entryCount: (database, session, conversation) =>
    database.read((kysely) => countSteps(kysely, { session, conversation }, Number.MAX_SAFE_INTEGER)),

  async entries(database, session, conversation, { before, limit }) {
    const { rows } = await database.read((kysely) =>
      sql<Row<"steps"> & { entry: number }>`select * from (
          select steps.*, row_number() over (order by seq) as entry from steps
          where session = ${session} and conversation = ${conversation}
        ) where entry < ${before} order by entry desc limit ${limit}`.execute(kysely),
    );
    return rows.toReversed().map(({ entry, turn, at, tokens, body: json }) => {
      const body = parseStepBody(json);
      return { entry, turn, at, tokens, kind: body.kind, body };
    });
  },

  async requests(database) {
    const rows = await database.read((kysely) =>
      kysely.selectFrom("compaction_requests").selectAll().orderBy("message").execute(),
    );
    return rows.map(({ group_name: group, ...request }) => ({ ...request, group }));
  },

  settleRequest: (database, { session, message }, outgoing, at) =>
    database.write(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom("compaction_requests")
        .where("session", "=", session)
        .where("message", "=", message)
        .executeTakeFirstOrThrow();
      if (numDeletedRows === 0n) return false;
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),
});

/**
 * Inside the caller's transaction: these sessions are to be compacted, because this message asks for it. Who has asked
 * before in the same conversation is the one that is told.
 */
export async function requestCompactions(
  transaction: Transaction<Tables>,
  message: number,
  sessions: readonly string[] = [],
): Promise<void> {
  for (const id of sessions)
    await sql`insert into compaction_requests (session, conversation, group_name, message)
      select id, conversation, group_name, ${message} from sessions where id = ${id}
      on conflict (session) do update set conversation = excluded.conversation, group_name = excluded.group_name,
        message = excluded.message where conversation <> excluded.conversation`.execute(transaction);
}

/** Everything that the conversation has read: its newest turn's origins, and those of the summaries before. */
async function originsSoFar(
  transaction: Transaction<Tables>,
  { session, conversation }: Place,
): Promise<readonly Origin[]> {
  const [last] = await selectLastOrigins(transaction, { session, conversation });
  const before = await transaction
    .selectFrom("summaries")
    .select("origins")
    .where("session", "=", session)
    .where("conversation", "=", conversation)
    .orderBy("seq", "desc")
    .limit(1)
    .execute();
  return sortOrigins([...(last ? [last] : []), ...before].flatMap(({ origins }) => parseOrigins(origins)));
}

async function countSteps(
  kysely: Parameters<Parameters<Database["read"]>[0]>[0],
  { session, conversation }: Place,
  upTo: number,
): Promise<number> {
  const { count } = await kysely
    .selectFrom("steps")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("session", "=", session)
    .where("conversation", "=", conversation)
    .where("seq", "<=", upTo)
    .executeTakeFirstOrThrow();
  return count;
}

function toSummary(row: Row<"summaries">): Summary {
  return {
    kind: row.kind,
    fromStep: row.from_step,
    toStep: row.to_step,
    fromEntry: row.from_entry,
    toEntry: row.to_entry,
    text: row.text,
    tokens: row.tokens,
    model: row.model ?? undefined,
    madeAt: row.made_at,
    origins: parseOrigins(row.origins),
  };
}
