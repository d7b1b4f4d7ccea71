import { sql } from "kysely";

import type { IncomingMessage, MessageState, StoredMessage } from "../../domain/message.ts";
import type { MessageStore } from "../store.ts";
import type { Database } from "./database.ts";
import { parseQuote } from "./json-columns.ts";
import type { Row } from "./tables.ts";

// Written as literals, not as bound values: only then does SQLite see that the partial indexes apply.
const isWaiting = sql<boolean>`state = 'waiting'`;
const isShown = sql<boolean>`state <> 'handled'`;

export class SqliteMessages implements MessageStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(
    message: IncomingMessage,
    placed: { group: string; state: MessageState; at: number },
  ): Promise<{ seq: number; duplicate: boolean }> {
    return this.#database.write(async (transaction) => {
      const inserted = await transaction
        .insertInto("messages")
        .values({
          group_name: placed.group,
          channel: message.channel,
          chat: message.chat,
          id: message.id,
          sender_id: message.sender.id,
          sender_name: message.sender.name,
          text: message.text,
          quote: message.quote === undefined ? null : JSON.stringify(message.quote),
          state: placed.state,
          turn: null,
          received_at: placed.at,
        })
        .onConflict((conflict) => conflict.columns(["channel", "chat", "sender_id", "id"]).doNothing())
        .returning("seq")
        .executeTakeFirst();
      if (inserted) return { seq: inserted.seq, duplicate: false };
      const known = await transaction
        .selectFrom("messages")
        .select("seq")
        .where("channel", "=", message.channel)
        .where("chat", "=", message.chat)
        .where("sender_id", "=", message.sender.id)
        .where("id", "=", message.id)
        .executeTakeFirstOrThrow();
      return { seq: known.seq, duplicate: true };
    });
  }

  async after(group: string, after: number, limit: number): Promise<StoredMessage[]> {
    const newestFirst = await this.#database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .selectAll()
        .where("group_name", "=", group)
        .where("seq", ">", after)
        .where(isShown)
        .orderBy("seq", "desc")
        .limit(limit)
        .execute(),
    );
    return newestFirst.map(toMessage).toReversed();
  }

  async countAfter(group: string, after: number): Promise<number> {
    const { count } = await this.#database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .select((select) => select.fn.countAll<number>().as("count"))
        .where("group_name", "=", group)
        .where("seq", ">", after)
        .where(isShown)
        .executeTakeFirstOrThrow(),
    );
    return count;
  }

  async waiting(group: string, limit: number): Promise<StoredMessage[]> {
    const rows = await this.#database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .selectAll()
        .where("group_name", "=", group)
        .where(isWaiting)
        .orderBy("seq")
        .limit(limit)
        .execute(),
    );
    return rows.map(toMessage);
  }

  async waitingCount(group: string): Promise<number> {
    const { count } = await this.#database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .select((select) => select.fn.countAll<number>().as("count"))
        .where("group_name", "=", group)
        .where(isWaiting)
        .executeTakeFirstOrThrow(),
    );
    return count;
  }

  async waitingGroups(): Promise<string[]> {
    const rows = await this.#database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .select("group_name")
        .where(isWaiting)
        .groupBy("group_name")
        .orderBy((order) => order.fn.min("seq"))
        .execute(),
    );
    return rows.map((row) => row.group_name);
  }

  async ofTurn(turn: string): Promise<StoredMessage[]> {
    const rows = await this.#database.read((kysely) =>
      kysely.selectFrom("messages").selectAll().where("turn", "=", turn).orderBy("seq").execute(),
    );
    return rows.map(toMessage);
  }

  async dropWaiting(group: string): Promise<StoredMessage[]> {
    const rows = await this.#database.write((transaction) =>
      transaction
        .updateTable("messages")
        .set({ state: "handled" })
        .where("group_name", "=", group)
        .where(isWaiting)
        .returningAll()
        .execute(),
    );
    return rows.map(toMessage).toSorted((a, b) => a.seq - b.seq);
  }

  /** Nothing happens for a turn that is not `failed`: the messages of a good turn are never answered twice. */
  async requeue(turn: string): Promise<number> {
    const { numUpdatedRows } = await this.#database.write((transaction) =>
      transaction
        .updateTable("messages")
        .set({ state: "waiting", turn: null })
        .where("turn", "=", turn)
        .where("state", "=", "answered")
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
  }
}

function toMessage(row: Row<"messages">): StoredMessage {
  return {
    seq: row.seq,
    group: row.group_name,
    channel: row.channel,
    chat: row.chat,
    id: row.id,
    sender: { id: row.sender_id, name: row.sender_name },
    text: row.text,
    quote: row.quote === null ? undefined : parseQuote(row.quote),
    state: row.state,
    turn: row.turn ?? undefined,
    receivedAt: row.received_at,
  };
}
