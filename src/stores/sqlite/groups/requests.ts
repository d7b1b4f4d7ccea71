import { type Selectable, sql, type Transaction } from "kysely";

import {
  type ChatRequest,
  pairingLifetimeMs,
  type RequestLimits,
  type RequestSettlement,
} from "../../../domain/chats/group.ts";
import type { RequestStore } from "../../contract/chat-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { insertOutgoing } from "../conversation/outbox.ts";
import type { Tables } from "../schema/tables.ts";

const hourMs = 3_600_000;

export const sqliteRequests = onDatabase<RequestStore>({
  open: (database, request, words) =>
    database.write(async (transaction) => {
      const { kind, code, channel, chat, title = null, sender, at } = request;
      await transaction
        .deleteFrom("chat_requests")
        .where("state", "=", "requested")
        .where("kind", "=", kind)
        .where((is) =>
          // One from the future was made before the clock was set back.
          is.or([is("at", "<=", at - words.limits.lifetimeMs), ...(kind === "pairing" ? [is("at", ">", at)] : [])]),
        )
        .execute();
      if (!(await hasRoom(transaction, request, words.limits))) return false;
      const row = await transaction
        .insertInto("chat_requests")
        .values({
          kind,
          code,
          channel,
          chat,
          title,
          sender_id: sender.id,
          sender_name: sender.name,
          state: "requested",
          at,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning("code")
        .executeTakeFirst();
      if (!row) return false;
      for (const draft of words.outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),

  get: (database, code) =>
    database.first(toRequest, (kysely) => kysely.selectFrom("chat_requests").selectAll().where("code", "=", code)),

  pairings: (database) =>
    database.list(toRequest, (kysely) =>
      kysely.selectFrom("chat_requests").selectAll().where("kind", "=", "pairing").orderBy("at").orderBy("code"),
    ),

  settle: (database, answer, outgoing, at) =>
    database.write(async (transaction) => {
      await settleRequest(transaction, answer);
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
    }),

  async waiting(database, now) {
    const { count } = await database.read((kysely) =>
      kysely
        .selectFrom("chat_requests")
        .select((select) => select.fn.countAll<number>().as("count"))
        .where("state", "=", "requested")
        .where((is) =>
          is.or([is("kind", "!=", "pairing"), is.and([is("at", ">", now - pairingLifetimeMs), is("at", "<=", now)])]),
        )
        .executeTakeFirstOrThrow(),
    );
    return count;
  },

  tries: (database, place) =>
    database.read((kysely) =>
      kysely.selectFrom("code_tries").select(["wrong", "at"]).where("place", "=", place).executeTakeFirst(),
    ),

  noteTry: (database, { place, message, at }) =>
    database.write(async (transaction) => {
      const known = await transaction
        .selectFrom("code_tries")
        .select(["wrong", "message"])
        .where("place", "=", place)
        .executeTakeFirst();
      if (known?.message === message) return known.wrong;
      const wrong = (known?.wrong ?? 0) + 1;
      await transaction
        .insertInto("code_tries")
        .values({ place, wrong, message, at })
        .onConflict((conflict) => conflict.column("place").doUpdateSet({ wrong, message, at }))
        .execute();
      return wrong;
    }),

  async forgetTries(database, place) {
    await database.write((transaction) => transaction.deleteFrom("code_tries").where("place", "=", place).execute());
  },

  async forget(database, channel, chat) {
    await database.write((transaction) =>
      transaction.deleteFrom("chat_requests").where("channel", "=", channel).where("chat", "=", chat).execute(),
    );
  },
});

function toRequest(row: Selectable<Tables["chat_requests"]>): ChatRequest {
  const { kind, code, channel, chat, title, sender_id: id, sender_name: name, state, at } = row;
  return { kind, code, channel, chat, title: title ?? undefined, sender: { id, name }, state, at };
}

async function hasRoom(
  transaction: Transaction<Tables>,
  { kind, channel, sender, at }: Omit<ChatRequest, "state">,
  limits: RequestLimits,
): Promise<boolean> {
  const found = await transaction
    .selectFrom("chat_requests")
    .select([
      sql<number>`count(*) filter (where state = 'requested')`.as("open"),
      sql<number>`count(*) filter (where state = 'requested' and sender_id = ${sender.id})`.as("ofSender"),
      sql<number>`count(*) filter (where at > ${at - hourMs})`.as("recent"),
    ])
    .where("kind", "=", kind)
    .$if(kind === "pairing", (all) => all.where("channel", "=", channel))
    .executeTakeFirstOrThrow();
  return found.open < limits.open && found.ofSender < limits.openOfSender && found.recent < limits.perHour;
}

/** Answers a request inside the caller's transaction. An approved chat is a group: nothing is left of its request. */
export async function settleRequest(transaction: Transaction<Tables>, { code, as }: RequestSettlement): Promise<void> {
  if (as === "approved") await transaction.deleteFrom("chat_requests").where("code", "=", code).execute();
  else await transaction.updateTable("chat_requests").set({ state: "denied" }).where("code", "=", code).execute();
}
