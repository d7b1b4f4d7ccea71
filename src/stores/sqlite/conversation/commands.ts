import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";

import type { GroupChat } from "../../../domain/chats/group.ts";
import type { StoredMessage } from "../../../domain/chats/message.ts";
import type { CommandStore, SetAside, SetAsideWords } from "../../contract/store.ts";
import type { Database } from "../database/database.ts";
import { onDatabase } from "../database/on-database.ts";
import { isOf, isWaiting, toMessage } from "./messages.ts";
import { answerApproval, hasUnreleased } from "./approval-rows.ts";
import { insertOutgoing } from "./outbox.ts";
import { hasAwaited, lastDelivery } from "./sub-agent-rows.ts";
import { settleRequest } from "../groups/requests.ts";
import { renewSession } from "./sessions.ts";
import { requestCompactions } from "./summaries.ts";
import type { Tables } from "../schema/tables.ts";
import { finishTurn, isRunning, toTurn } from "./turns.ts";
import { dropWork, dueWorkOf } from "./work.ts";

type OldChange = Parameters<CommandStore["giveUpOld"]>[1];
type Fits = RawBuilder<boolean>;

export const sqliteCommands = onDatabase<CommandStore>({
  async pending(database, group) {
    const rows = await database.read((kysely) => {
      const pending = kysely
        .selectFrom("commands")
        .innerJoin("messages", "messages.seq", "commands.message")
        .selectAll("messages")
        .select(["commands.command", "commands.argument"])
        .orderBy("commands.message");
      return (
        group === undefined ? pending : pending.where("commands.group_name", "=", group.name).where(isOf(group))
      ).execute();
    });
    return rows.map(({ command, argument, ...message }) => ({
      command,
      argument: argument ?? undefined,
      message: toMessage(message),
    }));
  },

  carryOut: (database, seq, change) =>
    database.write(async (transaction) => {
      const command = await transaction
        .deleteFrom("commands")
        .where("message", "=", seq)
        .returning("message")
        .executeTakeFirst();
      if (!command) return undefined;
      const group = await groupOf(transaction, seq);
      const found =
        change.stops && group
          ? await workBefore(transaction, group, { seq, now: change.at })
          : { turns: [], waiting: [], work: [] };
      const ended = change.choose?.(found) ?? found;
      await setState(transaction, ended.waiting, "handled");
      for (const { id } of ended.work) await dropWork(transaction, id, "stopped in the chat");
      for (const session of change.renews ?? []) await renewSession(transaction, session, seq);
      await requestCompactions(transaction, seq, change.compacts);
      if (change.settles) await settleRequest(transaction, change.settles);
      const answered = change.answers && (await answerApproval(transaction, change.answers));
      const done = { ...ended, answered };
      await conclude(transaction, done, { at: change.at, words: change.tell(done, found) });
      return done;
    }),

  giveUpOld: (database, group, change) =>
    database.write(async (transaction) =>
      setAside(transaction, await workOlderThan(transaction, group, change.before), change),
    ),

  async giveUpLate(database, group, change) {
    const late = sql<boolean>`late = 1`;
    const found = { turns: [], waiting: await waitingWhere(database, group, late), work: [] };
    // Most turns have nothing of the kind: that is found out without a write.
    if (found.waiting.length === 0) return found;
    return database.write(async (transaction) => {
      const still = await selectWaiting(transaction, group, late);
      return setAside(transaction, { turns: [], waiting: still, work: [] }, change);
    });
  },
});

/** Turns the found messages into context, with the texts about it. */
async function setAside(
  transaction: Transaction<Tables>,
  found: SetAside,
  change: Pick<OldChange, "at" | "tell">,
): Promise<SetAside> {
  if (found.turns.length === 0 && found.waiting.length === 0) return found;
  await setState(transaction, found.waiting, "context");
  await conclude(transaction, found, { at: change.at, words: change.tell(found) });
  return found;
}

function waitingWhere(database: Database, group: GroupChat, fits: Fits): Promise<StoredMessage[]> {
  return database.read((kysely) => selectWaiting(kysely, group, fits));
}

async function selectWaiting(kysely: Kysely<Tables>, group: GroupChat, fits: Fits): Promise<StoredMessage[]> {
  const rows = await kysely
    .selectFrom("messages")
    .selectAll()
    .where(isOf(group))
    .where(isWaiting)
    .where(fits)
    .orderBy("seq")
    .execute();
  return rows.map(toMessage);
}

async function workBefore(
  transaction: Transaction<Tables>,
  group: GroupChat,
  { seq, now }: { readonly seq: number; readonly now: number },
): Promise<SetAside> {
  const turns = (await runningTurns(transaction, group)).filter(
    ({ messages }) => messages.length === 0 || messages.some((message) => message.seq < seq),
  );
  const waiting = await selectWaiting(transaction, group, sql<boolean>`seq < ${seq}`);
  return { turns, waiting, work: await dueWorkOf(transaction, group.name, now) };
}

async function workOlderThan(transaction: Transaction<Tables>, group: GroupChat, before: number): Promise<SetAside> {
  const turns = [];
  for (const running of await runningTurns(transaction, group)) {
    // It has waited for people, who have their own time.
    if (await hasUnreleased(transaction, running.turn.id)) continue;
    // So have sub-agents.
    if (running.turn.cause === "agent" || (await hasAwaited(transaction, running.turn.id))) continue;
    const { at } = await transaction
      .selectFrom("steps")
      .select((select) => select.fn.max("at").as("at"))
      .where("turn", "=", running.turn.id)
      .executeTakeFirstOrThrow();
    const delivered = await lastDelivery(transaction, running.turn.id);
    const latest = Math.max(
      running.turn.startedAt,
      at,
      delivered,
      ...running.messages.map((message) => message.receivedAt),
    );
    if (latest < before) turns.push(running);
  }
  // Nothing was sent after it arrived.
  const isOld = sql<boolean>`coalesce(sent_at, received_at) < ${before}`;
  return { turns, waiting: await selectWaiting(transaction, group, isOld), work: [] };
}

/** The group that the message came from. */
async function groupOf(transaction: Transaction<Tables>, seq: number): Promise<GroupChat | undefined> {
  return transaction
    .selectFrom("messages")
    .select(["group_name as name", "channel", "chat"])
    .where("seq", "=", seq)
    .executeTakeFirst();
}

/** All messages of a turn come from one chat. */
async function runningTurns(transaction: Transaction<Tables>, group: GroupChat): Promise<SetAside["turns"]> {
  const rows = await transaction
    .selectFrom("turns")
    .selectAll()
    .where(isRunning)
    .where("group_name", "=", group.name)
    .orderBy("seq")
    .execute();
  const turns = [];
  for (const row of rows) {
    const messages = await transaction
      .selectFrom("messages")
      .selectAll()
      .where("turn", "=", row.id)
      .orderBy("seq")
      .execute();
    if (messages.some(({ channel, chat }) => channel !== group.channel || chat !== group.chat)) continue;
    turns.push({ turn: toTurn(row), messages: messages.map(toMessage) });
  }
  return turns;
}

async function setState(
  transaction: Transaction<Tables>,
  messages: readonly StoredMessage[],
  state: "handled" | "context",
): Promise<void> {
  for (const { seq } of messages) {
    await transaction.updateTable("messages").set({ state }).where("seq", "=", seq).execute();
  }
}

async function conclude(
  transaction: Transaction<Tables>,
  { turns }: SetAside,
  { at, words }: { at: number; words: SetAsideWords },
): Promise<void> {
  const { reason, lastStep, outgoing } = words;
  for (const { turn } of turns) {
    await finishTurn(transaction, turn.id, { state: "cancelled", reason, at, steps: [lastStep], outgoing: [] });
  }
  for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
}
