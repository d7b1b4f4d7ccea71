import { sql, type Transaction } from "kysely";

import type { PruneWindow, RetentionStore } from "../contract/retention-store.ts";
import { onDatabase } from "./database/on-database.ts";
import type { Row, Tables } from "./schema/tables.ts";

/*
 * Rows are looked at in the order of their numbers, which is nearly that of their times: no index is kept for it. A
 * window without an old row is the last one; a single row whose time is off does not stop the others.
 */
export const sqliteRetention = onDatabase<RetentionStore>({
  messages: (database, window, keepNewest) =>
    database.writeSoon(async (transaction) => {
      const rows = await transaction
        .selectFrom("messages")
        .select(["seq", "group_name", "state", "pruned", "received_at as at"])
        .where("seq", ">", window.after)
        .orderBy("seq")
        .limit(window.limit)
        .execute();
      const old = rows.filter(({ at, pruned }) => at < window.before && pruned === 0);
      const seqs = await unneeded(transaction, old, keepNewest);
      const { numUpdatedRows } = await transaction
        .updateTable("messages")
        .set({ text: "", sender_name: "", quote: null, attachments: null, pruned: 1 })
        .where(isAmong(seqs))
        .where("seq", "not in", (from) => from.selectFrom("commands").select("commands.message"))
        .executeTakeFirstOrThrow();
      return { pruned: Number(numUpdatedRows), next: nextAfter(rows, window) };
    }),

  steps: (database, window) =>
    database.writeSoon(async (transaction) => {
      const rows = await transaction
        .selectFrom("steps")
        .innerJoin("sessions", "sessions.id", "steps.session")
        .innerJoin("turns", "turns.id", "steps.turn")
        .select(["steps.seq", "steps.at", "turns.state", "steps.conversation", "sessions.conversation as current"])
        .where("steps.seq", ">", window.after)
        .orderBy("steps.seq")
        .limit(window.limit)
        .execute();
      const over = rows.filter(
        ({ at, state, conversation, current }) => at < window.before && conversation < current && state !== "running",
      );
      const { numDeletedRows } = await transaction
        .deleteFrom("steps")
        .where(isAmong(over.map(({ seq }) => seq)))
        .executeTakeFirstOrThrow();
      return { pruned: Number(numDeletedRows), next: nextAfter(rows, window) };
    }),

  work: (database, window) =>
    database.writeSoon(async (transaction) => {
      const rows = await transaction
        .selectFrom("work")
        .select(["seq", "state", "created_at as at", sql<number>`text <> '' or payload is not null`.as("hasText")])
        .where("seq", ">", window.after)
        .orderBy("seq")
        .limit(window.limit)
        .execute();
      const over = rows.filter(
        ({ at, state, hasText }) => at < window.before && hasText === 1 && (state === "settled" || state === "dropped"),
      );
      const { numUpdatedRows } = await transaction
        .updateTable("work")
        .set({ text: "", payload: null })
        .where(isAmong(over.map(({ seq }) => seq)))
        .executeTakeFirstOrThrow();
      // Those of sub-agents, and summaries, are few: all at once, with the first rows.
      if (window.after === 0) {
        await sql`delete from summaries where made_at < ${window.before} and conversation <
          (select conversation from sessions where sessions.id = summaries.session)`.execute(transaction);
        await transaction
          .updateTable("sub_agents")
          .set({ task: "", text: null, files: "[]" })
          .where("removed_at", "<", window.before)
          .where("task", "<>", "")
          .execute();
      }
      return { pruned: Number(numUpdatedRows), next: nextAfter(rows, window) };
    }),

  replies: (database, window) =>
    database.writeSoon(async (transaction) => {
      const rows = await transaction
        .selectFrom("outbox")
        .select(["seq", "state", "pruned", "created_at as at"])
        .where("seq", ">", window.after)
        .orderBy("seq")
        .limit(window.limit)
        .execute();
      const over = rows.filter(
        ({ at, state, pruned }) =>
          at < window.before && pruned === 0 && (state === "accepted" || state === "delivered" || state === "dead"),
      );
      const { numUpdatedRows } = await transaction
        .updateTable("outbox")
        .set({ text: "", file: null, reaction: null, pruned: 1 })
        .where(isAmong(over.map(({ seq }) => seq)))
        .executeTakeFirstOrThrow();
      return { pruned: Number(numUpdatedRows), next: nextAfter(rows, window) };
    }),

  approvals: (database, before, limit) =>
    database.writeSoon(async (transaction) => {
      const removals = [
        sql`delete from approvals where code in (
          select approvals.code from approvals left join turns on turns.id = approvals.turn
          where approvals.state <> 'open' and approvals.recorded = 1 and approvals.decided_at < ${before}
            and turns.state is not 'running' limit ${limit})`,
        sql`delete from grants where id in (
          select grants.id from grants left join sessions on sessions.id = grants.session
          where grants.scope <> 'always' and grants.at < ${before} and (
            grants.expires_at < ${before} or grants.revoked_at < ${before}
            or (grants.scope = 'session' and sessions.conversation is not grants.conversation)) limit ${limit})`,
        sql`update execution_points set diff = null where seq in (
          select seq from execution_points where diff is not null and at < ${before} limit ${limit})`,
      ];
      let removed = 0n;
      for (const removal of removals) removed += (await removal.execute(transaction)).numAffectedRows ?? 0n;
      return Number(removed);
    }),

  strangers: (database, before, limit) =>
    database.writeSoon(async (transaction) => {
      const { numAffectedRows = 0n } = await sql`
        delete from chats where rowid in (
          select chats.rowid from chats
          left join chat_requests on chat_requests.channel = chats.channel and chat_requests.chat = chats.chat
          where chats.last_seen_at < ${before} and chats.group_name is null and chat_requests.code is null
          order by chats.last_seen_at limit ${limit})`.execute(transaction);
      return Number(numAffectedRows);
    }),

  days: (database, before, limit) =>
    database.writeSoon(async (transaction) => {
      const removals = [
        sql`delete from intake_days where (day, kind, name) in
          (select day, kind, name from intake_days where day < ${before.intake} limit ${limit})`,
        sql`delete from usage_days where rowid in
          (select rowid from usage_days where day < ${before.usage} limit ${limit})`,
        sql`delete from usage_calls where (day, group_name, agent, member_channel, member_id, model) in
          (select day, group_name, agent, member_channel, member_id, model from usage_calls
           where day < ${before.usage} limit ${limit})`,
        sql`delete from budget_warnings where (day, budget) in
          (select day, budget from budget_warnings where day < ${before.usage} limit ${limit})`,
        sql`delete from reservations where id in
          (select id from reservations where day < ${before.usage} limit ${limit})`,
      ];
      let removed = 0n;
      for (const removal of removals) removed += (await removal.execute(transaction)).numAffectedRows ?? 0n;
      return Number(removed);
    }),
});

/** Bound as one value: statements with their own number values would each be prepared anew. */
function isAmong(seqs: readonly number[]) {
  return sql<boolean>`seq in (select value from json_each(${JSON.stringify(seqs)}))`;
}

function nextAfter(
  rows: readonly { readonly seq: number; readonly at: number }[],
  window: PruneWindow,
): number | undefined {
  const isLast = rows.length < window.limit || !rows.some(({ at }) => at < window.before);
  return isLast ? undefined : rows.at(-1)?.seq;
}

/** Messages that nobody will need again. */
async function unneeded(
  transaction: Transaction<Tables>,
  messages: readonly Pick<Row<"messages">, "seq" | "group_name" | "state">[],
  keepNewest: number,
): Promise<number[]> {
  const reaches = new Map<string, number>();
  for (const group of new Set(messages.map(({ group_name }) => group_name))) {
    reaches.set(group, await reachOf(transaction, group, keepNewest));
  }
  return messages.flatMap(({ seq, group_name, state }) => {
    if (state === "waiting" || state === "taken") return [];
    return state === "handled" || seq <= (reaches.get(group_name) ?? 0) ? [seq] : [];
  });
}

/**
 * The last message of the group that no turn is going to be shown: by the cursors of its sessions, or because newer
 * ones push it out.
 */
async function reachOf(transaction: Transaction<Tables>, group: string, keepNewest: number): Promise<number> {
  const { cursor } = await transaction
    .selectFrom("sessions")
    .select((select) => select.fn.min<number | null>("context_cursor").as("cursor"))
    .where("group_name", "=", group)
    .executeTakeFirstOrThrow();
  const pushedOut = await transaction
    .selectFrom("messages")
    .select("seq")
    .where("group_name", "=", group)
    .where(sql<boolean>`state <> 'handled'`)
    .orderBy("seq", "desc")
    .limit(1)
    .offset(keepNewest)
    .executeTakeFirst();
  return Math.max(cursor ?? 0, pushedOut?.seq ?? 0);
}
