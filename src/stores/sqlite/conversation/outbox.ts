import { type Kysely, sql, type Transaction } from "kysely";

import type { OutgoingDraft, OutgoingMessage } from "../../../domain/chats/message.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { OutboxStore } from "../../contract/outbox-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseOutgoingFile, parseReaction, parseTexts } from "../schema/json-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { statement, written } from "../database/statement.ts";

/** The same clock as the host's, asked by SQLite itself. */
const now = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
// Literals, so that the partial index applies.
const isUnsent = sql<boolean>`state in ('queued', 'sending', 'uncertain')`;
const hasFile = sql<boolean>`file is not null`;

const selectUnsent = statement((kysely, { after, limit }: { readonly after: number; readonly limit: number }) =>
  kysely.selectFrom("outbox").selectAll().where(isUnsent).where("seq", ">", after).orderBy("seq").limit(limit),
);

const selectOfChannel = statement(
  (kysely, { channel, after, limit }: { readonly channel: string; readonly after: number; readonly limit: number }) =>
    kysely
      .selectFrom("outbox")
      .selectAll()
      .where("channel", "=", channel)
      .where("seq", ">", after)
      .where("pruned", "=", 0)
      .orderBy("seq")
      .limit(limit),
);

const isReply = sql<boolean>`kind = 'reply'`;

const selectSaid = statement(
  (
    kysely,
    of: {
      readonly name: string;
      readonly channel: string;
      readonly chat: string;
      readonly after: number;
      readonly limit: number;
    },
  ) =>
    kysely
      .selectFrom("outbox")
      .selectAll()
      .where("group_name", "=", of.name)
      .where(isReply)
      .where("seq", ">", of.after)
      .where("channel", "=", of.channel)
      .where("chat", "=", of.chat)
      .where("pruned", "=", 0)
      .orderBy("seq")
      .limit(of.limit),
);

type Sending = Pick<Row<"outbox">, "seq" | "state" | "attempts" | "error">;

const updateState = statement((kysely, { seq, state, attempts, error }: Sending) =>
  kysely.updateTable("outbox").set({ state, attempts, error }).where("seq", "=", seq).returning("seq"),
);

const accept = statement((kysely, { seq, state, attempts, error }: Sending) =>
  kysely
    .updateTable("outbox")
    .set({ state, attempts, error, accepted_at: now })
    .where("seq", "=", seq)
    .returning("seq"),
);

type NewOutgoing = Omit<
  Row<"outbox">,
  "seq" | "pruned" | "state" | "attempts" | "error" | "retried_at" | "accepted_at"
>;

const insertRow = statement((kysely, row: NewOutgoing) =>
  kysely
    .insertInto("outbox")
    .values({
      group_name: row.group_name,
      channel: row.channel,
      chat: row.chat,
      kind: row.kind,
      text: row.text,
      in_reply_to: row.in_reply_to,
      turn: row.turn,
      elapsed_ms: row.elapsed_ms,
      state: "queued",
      attempts: 0,
      error: null,
      created_at: row.created_at,
      retried_at: null,
      file: row.file,
      reaction: row.reaction,
      thread: row.thread,
      accepted_at: null,
      agent: row.agent,
    })
    .returningAll(),
);

export const sqliteOutbox = onDatabase<OutboxStore>({
  add: (database, draft, at) => database.write((transaction) => insertOutgoing(transaction, draft, at)),

  async unsent(database, limit, after = 0) {
    const rows = await database.read((kysely) => selectUnsent(kysely, { after, limit }));
    return rows.map(toOutgoing);
  },

  async setState(database, seq, state, attempts, error) {
    const update = state === "accepted" ? accept : updateState;
    const [row] = await database.write((transaction) =>
      update(transaction, { seq, state, attempts, error: error ?? null }),
    );
    if (!row) throw new AppError("not_found", `There is no message ${seq} in the outbox.`);
  },

  async ofChannel(database, channel, after, limit) {
    const rows = await database.read((kysely) => selectOfChannel(kysely, { channel, after, limit }));
    return rows.map(toOutgoing);
  },

  async saidIn(database, { name, channel, chat }, after, limit) {
    const rows = await database.read((kysely) => selectSaid(kysely, { name, channel, chat, after, limit }));
    return rows.map(toOutgoing);
  },

  own: (database, channel, chat, reference) =>
    database.first(toOutgoing, (kysely) =>
      rowsCalled(kysely, { channel, chat, reference })
        .selectAll("outbox")
        .where("outbox.reaction", "is", null)
        .orderBy("outbox.seq", "desc"),
    ),

  seqsIn: (database, channel, chat, limit) =>
    database.list(
      (row: Pick<Row<"outbox">, "seq">) => row.seq,
      (kysely) =>
        kysely
          .selectFrom("outbox")
          .select("seq")
          .where("channel", "=", channel)
          .where("chat", "=", chat)
          .where("pruned", "=", 0)
          .orderBy("seq", "desc")
          .limit(limit),
    ),

  async sessionOf(database, channel, chat, reference) {
    const row = await database.read((kysely) =>
      rowsCalled(kysely, { channel, chat, reference })
        .innerJoin("turns", "turns.id", "outbox.turn")
        .innerJoin("sessions", "sessions.id", "turns.session")
        .select("sessions.key")
        .limit(1)
        .executeTakeFirst(),
    );
    return row?.key;
  },

  async counts(database) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("outbox")
        .select(["state", (select) => select.fn.countAll<number>().as("count")])
        .groupBy("state")
        .execute(),
    );
    const counts = { queued: 0, sending: 0, accepted: 0, delivered: 0, uncertain: 0, dead: 0 };
    for (const { state, count } of rows) counts[state] = count;
    return counts;
  },

  ofTurn: (database, turn) =>
    database.list(toOutgoing, (kysely) =>
      kysely.selectFrom("outbox").selectAll().where("turn", "=", turn).orderBy("seq"),
    ),

  get: (database, seq) =>
    database.first(toOutgoing, (kysely) => kysely.selectFrom("outbox").selectAll().where("seq", "=", seq)),

  list: (database, { state, group, limit }) =>
    database.list(toOutgoing, (kysely) => {
      let newest = kysely.selectFrom("outbox").selectAll().orderBy("seq", "desc").limit(limit);
      if (state !== undefined) newest = newest.where("state", "=", state);
      if (group !== undefined) newest = newest.where("group_name", "=", group);
      return newest;
    }),

  async withFiles(database, since) {
    const rows = await database.read(async (kysely) => {
      const withFile = kysely.selectFrom("outbox").selectAll().where(hasFile);
      return [
        ...(await withFile.where(isUnsent).where("created_at", "<", since).execute()),
        ...(await withFile.where("created_at", ">=", since).execute()),
      ];
    });
    return rows.map(toOutgoing);
  },

  async requeue(database, seqs, at) {
    const rows = await database.write((transaction) =>
      transaction
        .updateTable("outbox")
        .set({ state: "queued", attempts: 0, error: null, retried_at: at })
        .where(sql<boolean>`seq in (select value from json_each(${JSON.stringify(seqs)}))`)
        .where("state", "in", ["dead", "uncertain"])
        .where("pruned", "=", 0)
        .returning("seq")
        .execute(),
    );
    return rows.map(({ seq }) => seq).toSorted((a, b) => a - b);
  },
});

/** The host's messages in a chat with this number or turn. */
function rowsCalled(
  kysely: Kysely<Tables>,
  { channel, chat, reference }: { readonly channel: string; readonly chat: string; readonly reference: string },
) {
  return kysely
    .selectFrom("outbox")
    .select("outbox.seq")
    .where((where) =>
      where.or([
        where("outbox.turn", "=", reference),
        // Members' messages may be called by numbers, too.
        where.and([
          where("outbox.seq", "=", asSeq(reference)),
          where.not(
            where.exists(
              where
                .selectFrom("messages")
                .select("messages.seq")
                .where("messages.channel", "=", channel)
                .where("messages.chat", "=", chat)
                .where("messages.id", "=", reference),
            ),
          ),
        ]),
      ]),
    )
    .where("outbox.channel", "=", channel)
    .where("outbox.chat", "=", chat);
}

/** Writes a row of the outbox inside the caller's transaction. */
export async function insertOutgoing(
  transaction: Transaction<Tables>,
  draft: OutgoingDraft,
  at: number,
): Promise<OutgoingMessage> {
  const [row] = await insertRow(transaction, {
    group_name: draft.group,
    channel: draft.channel,
    chat: draft.chat,
    kind: draft.kind,
    text: draft.text,
    in_reply_to: JSON.stringify(draft.inReplyTo),
    turn: draft.turn ?? null,
    elapsed_ms: draft.elapsedMs ?? null,
    created_at: at,
    file: draft.file === undefined ? null : JSON.stringify(draft.file),
    reaction: draft.reaction === undefined ? null : JSON.stringify(draft.reaction),
    thread: draft.thread ?? null,
    agent: draft.agent ?? null,
  });
  return toOutgoing(written(row));
}

/** The number that a text is when it is written exactly as we write numbers; 0, which no row has, for other texts. */
function asSeq(reference: string): number {
  return /^[1-9]\d{0,14}$/.test(reference) ? Number(reference) : 0;
}

function toOutgoing(row: Row<"outbox">): OutgoingMessage {
  return {
    seq: row.seq,
    group: row.group_name,
    channel: row.channel,
    chat: row.chat,
    kind: row.kind,
    text: row.text,
    inReplyTo: parseTexts(row.in_reply_to),
    turn: row.turn ?? undefined,
    thread: row.thread ?? undefined,
    agent: row.agent ?? undefined,
    file: row.file === null ? undefined : parseOutgoingFile(row.file),
    reaction: row.reaction === null ? undefined : parseReaction(row.reaction),
    elapsedMs: row.elapsed_ms ?? undefined,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    retriedAt: row.retried_at ?? undefined,
    acceptedAt: row.accepted_at ?? undefined,
    error: row.error ?? undefined,
    pruned: row.pruned === 1 ? true : undefined,
  };
}
