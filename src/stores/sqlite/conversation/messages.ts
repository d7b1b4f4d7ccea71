import { type Kysely, sql, type Transaction } from "kysely";

import type { GroupChat } from "../../../domain/chats/group.ts";
import type { IncomingMessage, StoredMessage } from "../../../domain/chats/message.ts";
import type { Addressee } from "../../../domain/turns/session.ts";
import type { MessageStore } from "../../contract/store.ts";
import type { Database } from "../database/database.ts";
import { onDatabase } from "../database/on-database.ts";
import { chargeIntake } from "../groups/intake.ts";
import { leaveInFolder } from "./origins.ts";
import { parseAttachments, parseQuote } from "../schema/json-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { statement } from "../database/statement.ts";

// Written as literals, not as bound values: only then does SQLite see that the partial indexes apply.
export const isWaiting = sql<boolean>`state = 'waiting'`;
const isPrompt = sql<boolean>`late = 0`;
const isShown = sql<boolean>`state <> 'handled'`;
/** One for several agents is one message: its copies are work of the others. */
const isOriginal = sql<boolean>`copy_of is null`;
/** A group can talk for years without the agent: counting has to have an end. */
const countedMessages = 10_000;

/** Came from the chat that the group is. */
export function isOf({ name, channel, chat }: GroupChat) {
  return sql<boolean>`(messages.group_name = ${name} and messages.channel = ${channel} and messages.chat = ${chat})`;
}

/** A group as what tells its messages: see `isOf`. */
type ChatOfGroup = Pick<GroupChat, "name" | "channel" | "chat">;

function chatOf({ name, channel, chat }: GroupChat): ChatOfGroup {
  return { name, channel, chat };
}

/** SQL values that select one agent's messages: `only` its own, or all `except` those for others (JSON). */
interface ForAgent {
  readonly only: string | null;
  readonly except: string;
}

function forAgent(addressee: Addressee | undefined): ForAgent {
  if (addressee && "only" in addressee) return { only: addressee.only, except: "[]" };
  return { only: null, except: JSON.stringify(addressee?.except ?? []) };
}

function isFor({ only, except }: ForAgent) {
  return sql<boolean>`(case when ${only} is null
    then agent is null or agent not in (select value from json_each(${except})) else agent = ${only} end)`;
}

const insertMessage = statement((kysely, row: Omit<Row<"messages">, "seq" | "turn" | "pruned">) =>
  kysely
    .insertInto("messages")
    .values({
      group_name: row.group_name,
      channel: row.channel,
      chat: row.chat,
      id: row.id,
      sender_id: row.sender_id,
      sender_name: row.sender_name,
      text: row.text,
      quote: row.quote,
      attachments: row.attachments,
      state: row.state,
      turn: null,
      received_at: row.received_at,
      late: row.late,
      sent_at: row.sent_at,
      forwarded: row.forwarded,
      thread: row.thread,
      agent: row.agent,
      copy_of: row.copy_of,
    })
    .onConflict((conflict) => conflict.columns(["channel", "chat", "sender_id", "id"]).doNothing())
    .returning("seq"),
);

const selectAfter = statement((kysely, group: ChatOfGroup & { readonly after: number; readonly limit: number }) =>
  kysely
    .selectFrom("messages")
    .selectAll()
    .where(isOf(group))
    .where("seq", ">", group.after)
    .where(isShown)
    .where(isOriginal)
    .orderBy("seq", "desc")
    .limit(group.limit),
);

const selectFollowing = statement(
  (kysely, group: ChatOfGroup & { readonly after: number; readonly limit: number; readonly copies: 0 | 1 }) =>
    kysely
      .selectFrom("messages")
      .selectAll()
      .where(isOf(group))
      .where("seq", ">", group.after)
      .where(isShown)
      .where(sql<boolean>`(copy_of is null or ${group.copies} = 1)`)
      .orderBy("seq")
      .limit(group.limit),
);

const countSince = statement((kysely, group: ChatOfGroup & { readonly after: number }) =>
  kysely
    .selectFrom((from) =>
      from
        .selectFrom("messages")
        .select("seq")
        .where(isOf(group))
        .where("seq", ">", group.after)
        .where(isShown)
        .where(isOriginal)
        .limit(countedMessages)
        .as("counted"),
    )
    .select((select) => select.fn.countAll<number>().as("count")),
);

const selectWaiting = statement((kysely, group: ChatOfGroup & ForAgent & { readonly limit: number }) =>
  kysely
    .selectFrom("messages")
    .selectAll()
    .where(isOf(group))
    .where(isWaiting)
    .where(isPrompt)
    .where(isFor(group))
    .orderBy("seq")
    .limit(group.limit),
);

const countWaiting = statement((kysely, group: ChatOfGroup & ForAgent) =>
  kysely
    .selectFrom("messages")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where(isOf(group))
    .where(isWaiting)
    .where(isPrompt)
    .where(isFor(group)),
);

const selectOfTurn = statement((kysely, { turn }: { readonly turn: string }) =>
  kysely.selectFrom("messages").selectAll().where("turn", "=", turn).orderBy("seq"),
);

/** Leaves a message's files, which are in the group's folder. */
async function leaveFiles(
  transaction: Transaction<Tables>,
  { group, attachments = [], at }: Pick<Parameters<MessageStore["insert"]>[1], "group" | "attachments" | "at">,
): Promise<void> {
  if (attachments.every(({ file }) => file === undefined)) return;
  await leaveInFolder(transaction, { group, origins: ["file"], at, turn: null });
}

async function messagesAfter(
  database: Database,
  group: GroupChat,
  after: number,
  limit: number,
): Promise<StoredMessage[]> {
  const newestFirst = await database.read((kysely) => selectAfter(kysely, { ...chatOf(group), after, limit }));
  return newestFirst.map(toMessage).toReversed();
}

export const sqliteMessages = onDatabase<MessageStore>({
  insert: (database, message, placed) =>
    database.write(async (transaction) => {
      const [agent, ...others] = placed.agents ?? [];
      const row = { ...toRow(message, placed), agent: agent ?? null, copy_of: null };
      const [inserted] = await insertMessage(transaction, row);
      if (!inserted) {
        const known = await seqOf(transaction, message).executeTakeFirstOrThrow();
        return { seq: known.seq, duplicate: true };
      }
      for (const other of others) {
        const copy = { id: copyId(other, message.id), agent: other, copy_of: inserted.seq };
        await insertMessage(transaction, { ...row, ...copy });
      }
      if (placed.charge) await chargeIntake(transaction, placed.charge);
      await leaveFiles(transaction, placed);
      if (placed.command) {
        const { group: group_name, command, argument = null } = placed;
        const given = { message: inserted.seq, group_name, command, argument };
        await transaction.insertInto("commands").values(given).execute();
      }
      return { seq: inserted.seq, duplicate: false };
    }),

  isKnown: async (database, message) =>
    (await database.read((kysely) => seqOf(kysely, message).executeTakeFirst())) !== undefined,

  called: (database, { name, channel, chat }, id, limit) =>
    database.list(toMessage, (kysely) =>
      kysely
        .selectFrom("messages")
        .selectAll()
        .where("channel", "=", channel)
        .where("chat", "=", chat)
        .where("id", "=", id)
        .where("group_name", "=", name)
        .where(isOriginal)
        .limit(limit),
    ),

  after: messagesAfter,

  async following(database, group, after, limit, how) {
    const page = { ...chatOf(group), after, limit, copies: how?.copies === true ? 1 : 0 } as const;
    const rows = await database.read((kysely) => selectFollowing(kysely, page));
    return rows.map(toMessage);
  },

  async countAfter(database, group, after) {
    const [row] = await database.read((kysely) => countSince(kysely, { ...chatOf(group), after }));
    return row?.count ?? 0;
  },

  async waiting(database, group, limit, addressee) {
    const rows = await database.read((kysely) =>
      selectWaiting(kysely, { ...chatOf(group), ...forAgent(addressee), limit }),
    );
    return rows.map(toMessage);
  },

  async waitingCount(database, group, addressee) {
    const [row] = await database.read((kysely) => countWaiting(kysely, { ...chatOf(group), ...forAgent(addressee) }));
    return row?.count ?? 0;
  },

  async waitingTotal(database, limit) {
    const { count } = await database.read((kysely) =>
      kysely
        .selectFrom((from) => from.selectFrom("messages").select("seq").where(isWaiting).limit(limit).as("counted"))
        .select((select) => select.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow(),
    );
    return count;
  },

  async waitingByGroup(database) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom((from) =>
          from
            .selectFrom("messages")
            .select(["group_name", "channel", "chat", (select) => select.fn.countAll<number>().as("count")])
            .select((select) => select.fn.min("seq").as("first"))
            .where(isWaiting)
            .groupBy(["group_name", "channel", "chat"])
            .as("waiting"),
        )
        .innerJoin("messages", "messages.seq", "waiting.first")
        .select(["waiting.group_name", "waiting.channel", "waiting.chat", "waiting.count", "messages.received_at"])
        .orderBy("waiting.first")
        .execute(),
    );
    return rows.map(({ group_name: group, channel, chat, count: messages, received_at: oldestAt }) => ({
      group,
      channel,
      chat,
      messages,
      oldestAt,
    }));
  },

  waitingGroups: (database) =>
    database.list(
      (row: Pick<Row<"messages">, "group_name">) => row.group_name,
      (kysely) =>
        kysely
          .selectFrom("messages")
          .select("group_name")
          .where(isWaiting)
          .groupBy("group_name")
          .orderBy((order) => order.fn.min("seq")),
    ),

  withSeqs: (database, seqs) =>
    database.list(toMessage, (kysely) =>
      kysely
        .selectFrom("messages")
        .selectAll()
        .where(sql<boolean>`seq in (select value from json_each(${JSON.stringify(seqs)}))`)
        .orderBy("seq"),
    ),

  async overtaken(database, group, id, { setAside = false } = {}) {
    const [row, another] = await database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .selectAll()
        .where("channel", "=", group.channel)
        .where("chat", "=", group.chat)
        .where("id", "=", id)
        .limit(2)
        .execute(),
    );
    if (!row || another || row.group_name !== group.name || row.pruned === 1) return undefined;
    if (row.state === "context" && !setAside) return undefined;
    const later = await messagesAfter(database, group, row.seq, 1);
    return later.length > 0 ? toMessage(row) : undefined;
  },

  async ofTurn(database, turn) {
    const rows = await database.read((kysely) => selectOfTurn(kysely, { turn }));
    return rows.map(toMessage);
  },

  /** Nothing happens for a turn that is not `failed`: the messages of a good turn are never answered twice. */
  async requeue(database, turn) {
    const { numUpdatedRows } = await database.write((transaction) =>
      transaction
        .updateTable("messages")
        .set({ state: "waiting", turn: null })
        .where("turn", "=", turn)
        .where("state", "=", "answered")
        .where("pruned", "=", 0)
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
});

function toRow(
  message: IncomingMessage,
  placed: Parameters<MessageStore["insert"]>[1],
): Omit<Row<"messages">, "seq" | "turn" | "pruned" | "agent" | "copy_of"> {
  return {
    group_name: placed.group,
    channel: message.channel,
    chat: message.chat,
    id: message.id,
    sender_id: message.sender.id,
    sender_name: message.sender.name,
    text: message.text,
    quote: placed.quote === undefined ? null : JSON.stringify(placed.quote),
    attachments: placed.attachments?.length ? JSON.stringify(placed.attachments) : null,
    state: placed.state,
    received_at: placed.at,
    late: placed.late === true ? 1 : 0,
    sent_at: message.sentAt === undefined ? null : Math.round(Math.min(message.sentAt, placed.at)),
    forwarded: message.forwarded === true ? 1 : 0,
    thread: message.thread ?? null,
  };
}

type MessageKey = Pick<IncomingMessage, "channel" | "chat" | "sender" | "id">;

function seqOf(kysely: Kysely<Tables>, { channel, chat, sender, id }: MessageKey) {
  return kysely
    .selectFrom("messages")
    .select("seq")
    .where("channel", "=", channel)
    .where("chat", "=", chat)
    .where("sender_id", "=", sender.id)
    .where("id", "=", id);
}

/** Row id of a message's copy for another agent; unique because channels strip NUL from ids. */
function copyId(agent: string, id: string): string {
  return `${agent}\0${id}`;
}

function idOf({ id, copy_of }: Pick<Row<"messages">, "id" | "copy_of">): string {
  return copy_of === null ? id : id.slice(id.indexOf("\0") + 1);
}

export function toMessage(row: Row<"messages">): StoredMessage {
  return {
    seq: row.seq,
    group: row.group_name,
    channel: row.channel,
    chat: row.chat,
    id: idOf(row),
    sender: { id: row.sender_id, name: row.sender_name },
    text: row.text,
    quote: row.quote === null ? undefined : parseQuote(row.quote),
    attachments: row.attachments === null ? undefined : parseAttachments(row.attachments),
    state: row.state,
    turn: row.turn ?? undefined,
    receivedAt: row.received_at,
    sentAt: row.sent_at ?? undefined,
    forwarded: row.forwarded === 1 ? true : undefined,
    thread: row.thread ?? undefined,
    agent: row.agent ?? undefined,
    copyOf: row.copy_of ?? undefined,
    pruned: row.pruned === 1 ? true : undefined,
  };
}
