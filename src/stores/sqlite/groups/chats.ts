import { type Kysely, sql } from "kysely";

import type { Chat } from "../../../domain/chats/group.ts";
import type { Sender } from "../../../domain/chats/message.ts";
import type { ChatStore } from "../../contract/chat-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseMembers } from "../schema/json-columns.ts";
import type { Tables } from "../schema/tables.ts";
import { statement } from "../database/statement.ts";

interface SeenChat {
  readonly channel: string;
  readonly chat: string;
  readonly group: string | null;
  readonly title: string | null;
  readonly at: number;
}

const noteChat = statement((kysely, { channel, chat, group, title, at }: SeenChat) =>
  kysely
    .insertInto("chats")
    .values({
      channel,
      chat,
      group_name: group,
      title,
      members: null,
      first_seen_at: at,
      last_seen_at: at,
      messages: 1,
    })
    .onConflict((conflict) =>
      conflict.columns(["channel", "chat"]).doUpdateSet((set) => ({
        group_name: set.ref("excluded.group_name"),
        title: sql<string | null>`coalesce(excluded.title, chats.title)`,
        last_seen_at: sql<number>`max(chats.last_seen_at, excluded.last_seen_at)`,
        messages: set("chats.messages", "+", 1),
      })),
    ),
);

const noteMember = statement(
  (kysely, { group, id, name, at }: { group: string; id: string; name: string; at: number }) =>
    kysely
      .insertInto("members")
      .values({ group_name: group, sender_id: id, name, seen_at: at })
      .onConflict((conflict) =>
        conflict.columns(["group_name", "sender_id"]).doUpdateSet((set) => ({
          name: set.ref("excluded.name"),
          seen_at: set.ref("excluded.seen_at"),
        })),
      ),
);

const selectChat = statement((kysely, { channel, chat }: { readonly channel: string; readonly chat: string }) =>
  selectChats(kysely).where("chats.channel", "=", channel).where("chats.chat", "=", chat),
);

/** `list` gives the chats seen last: anybody can open new chats with us, so the answer has to have an end. */
const listedChats = 1_000;

export const sqliteChats = onDatabase<ChatStore>({
  async seen(database, { channel, chat, group, at, title }) {
    const known = { group: group ?? null, title: title ?? null };
    await database.writeSoon((transaction) => noteChat(transaction, { channel, chat, ...known, at }));
  },

  async changed(database, { channel, chat, at, title, members, left }) {
    const told = {
      ...(title !== undefined && { title }),
      ...(members !== undefined && { members: JSON.stringify(members) }),
      ...(left !== undefined && { gone: left ? 1 : 0 }),
    };
    const row = { group_name: null, first_seen_at: at, last_seen_at: at, messages: 0, title: null, members: null };
    await database.write((transaction) =>
      transaction
        .insertInto("chats")
        .values({ channel, chat, ...row, ...told })
        .onConflict((conflict) => conflict.columns(["channel", "chat"]).doUpdateSet({ channel, ...told }))
        .execute(),
    );
  },

  async get(database, channel, chat) {
    const [row] = await database.read((kysely) => selectChat(kysely, { channel, chat }));
    return row && toChat(row);
  },

  list: (database) =>
    database.list(toChat, (kysely) => selectChats(kysely).orderBy("chats.last_seen_at", "desc").limit(listedChats)),

  members: (database, group) => database.read((kysely) => membersOf(kysely, group)),

  async memberSeen(database, group, sender, at) {
    const { id, name } = sender;
    await database.writeSoon((transaction) => noteMember(transaction, { group, id, name, at }));
  },

  async allMembers(database) {
    const rows = await database.read((kysely) =>
      kysely.selectFrom("members").select(["group_name", "sender_id", "name"]).execute(),
    );
    return rows.map(({ group_name: group, sender_id: id, name }) => ({ group, id, name }));
  },
});

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
