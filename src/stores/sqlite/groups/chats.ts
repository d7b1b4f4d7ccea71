import { type Kysely, sql } from "kysely";

import type { Chat } from "../../../domain/group.ts";
import type { Sender } from "../../../domain/message.ts";
import type { ChatStore } from "../../chat-store.ts";
import type { Database } from "../database.ts";
import { parseMembers } from "../schema/json-columns.ts";
import type { Tables } from "../schema/tables.ts";

/** `list` gives the chats seen last: anybody can open new chats with us, so the answer has to have an end. */
const listedChats = 1_000;

export class SqliteChats implements ChatStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async seen({ channel, chat, group, at, title }: Parameters<ChatStore["seen"]>[0]): Promise<void> {
    const times = { first_seen_at: at, last_seen_at: at };
    const known = { group_name: group ?? null, title: title ?? null, members: null };
    await this.#database.writeSoon((transaction) =>
      transaction
        .insertInto("chats")
        .values({ channel, chat, ...known, ...times, messages: 1 })
        .onConflict((conflict) =>
          conflict.columns(["channel", "chat"]).doUpdateSet((set) => ({
            group_name: set.ref("excluded.group_name"),
            title: sql<string | null>`coalesce(excluded.title, chats.title)`,
            last_seen_at: sql<number>`max(chats.last_seen_at, excluded.last_seen_at)`,
            messages: set("chats.messages", "+", 1),
          })),
        )
        .execute(),
    );
  }

  async changed({ channel, chat, at, title, members, left }: Parameters<ChatStore["changed"]>[0]): Promise<void> {
    const told = {
      ...(title !== undefined && { title }),
      ...(members !== undefined && { members: JSON.stringify(members) }),
      ...(left !== undefined && { gone: left ? 1 : 0 }),
    };
    const row = { group_name: null, first_seen_at: at, last_seen_at: at, messages: 0, title: null, members: null };
    await this.#database.write((transaction) =>
      transaction
        .insertInto("chats")
        .values({ channel, chat, ...row, ...told })
        .onConflict((conflict) => conflict.columns(["channel", "chat"]).doUpdateSet({ channel, ...told }))
        .execute(),
    );
  }

  async get(channel: string, chat: string): Promise<Chat | undefined> {
    const row = await this.#database.read((kysely) =>
      selectChats(kysely).where("chats.channel", "=", channel).where("chats.chat", "=", chat).executeTakeFirst(),
    );
    return row && toChat(row);
  }

  async list(): Promise<Chat[]> {
    const rows = await this.#database.read((kysely) =>
      selectChats(kysely).orderBy("chats.last_seen_at", "desc").limit(listedChats).execute(),
    );
    return rows.map(toChat);
  }

  members(group: string): Promise<Sender[]> {
    return this.#database.read((kysely) => membersOf(kysely, group));
  }

  async memberSeen(group: string, sender: { id: string; name: string }, at: number): Promise<void> {
    await this.#database.writeSoon((transaction) =>
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

const listedMembers = 1_000;

function membersOf(kysely: Kysely<Tables>, group: string): Promise<Sender[]> {
  return kysely
    .selectFrom("members")
    .select(["sender_id as id", "name"])
    .where("group_name", "=", group)
    .orderBy("seen_at", "desc")
    .limit(listedMembers)
    .execute();
}

function selectChats(kysely: Kysely<Tables>) {
  return kysely
    .selectFrom("chats")
    .leftJoin("chat_requests", (join) =>
      join
        .onRef("chat_requests.channel", "=", "chats.channel")
        .onRef("chat_requests.chat", "=", "chats.chat")
        .on("chat_requests.kind", "=", "admission"),
    )
    .selectAll("chats")
    .select(["chat_requests.state as request", "chat_requests.code"]);
}

function toChat(row: Awaited<ReturnType<ReturnType<typeof selectChats>["executeTakeFirstOrThrow"]>>): Chat {
  const { request, code } = row;
  return {
    channel: row.channel,
    chat: row.chat,
    group: row.group_name ?? undefined,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    messages: row.messages,
    title: row.title ?? undefined,
    members: row.members === null ? undefined : parseMembers(row.members),
    left: row.gone === 1 ? true : undefined,
    request: request === null || code === null ? undefined : { state: request, code },
  };
}
