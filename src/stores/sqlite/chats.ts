import { sql } from "kysely";

import type { Chat } from "../../domain/group.ts";
import type { ChatStore } from "../store.ts";
import type { Database } from "./database.ts";

/** `list` gives the chats seen last: anybody can open new chats with us, so the answer has to have an end. */
const listedChats = 1_000;

export class SqliteChats implements ChatStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async seen(channel: string, chat: string, group: string | undefined, at: number): Promise<void> {
    await this.#database.write((transaction) =>
      transaction
        .insertInto("chats")
        .values({ channel, chat, group_name: group ?? null, first_seen_at: at, last_seen_at: at, messages: 1 })
        .onConflict((conflict) =>
          conflict.columns(["channel", "chat"]).doUpdateSet((set) => ({
            group_name: set.ref("excluded.group_name"),
            last_seen_at: sql<number>`max(chats.last_seen_at, excluded.last_seen_at)`,
            messages: set("chats.messages", "+", 1),
          })),
        )
        .execute(),
    );
  }

  async list(): Promise<Chat[]> {
    const rows = await this.#database.read((kysely) =>
      kysely.selectFrom("chats").selectAll().orderBy("last_seen_at", "desc").limit(listedChats).execute(),
    );
    return rows.map((row) => ({
      channel: row.channel,
      chat: row.chat,
      group: row.group_name ?? undefined,
      firstSeenAt: row.first_seen_at,
      lastSeenAt: row.last_seen_at,
      messages: row.messages,
    }));
  }

  async memberSeen(group: string, sender: { id: string; name: string }, at: number): Promise<void> {
    await this.#database.write((transaction) =>
      transaction
        .insertInto("members")
        .values({ group_name: group, sender_id: sender.id, name: sender.name, seen_at: at })
        .onConflict((conflict) =>
          conflict.columns(["group_name", "sender_id"]).doUpdateSet((set) => ({
            name: set.ref("excluded.name"),
            seen_at: set.ref("excluded.seen_at"),
          })),
        )
        .execute(),
    );
  }
}
