import type { Transaction } from "kysely";

import type { StoredMessage } from "../../domain/message.ts";
import type { InterventionStore, PendingCommand, SetAside, SetAsideWords } from "../store.ts";
import type { Database } from "./database.ts";
import { isWaiting, toMessage } from "./messages.ts";
import { insertOutgoing } from "./outbox.ts";
import { renewSession } from "./sessions.ts";
import type { Tables } from "./tables.ts";
import { finishTurn, isRunning, toTurn } from "./turns.ts";

type CommandChange = Parameters<InterventionStore["carryOut"]>[1];
type OldChange = Parameters<InterventionStore["giveUpOld"]>[1];

export class SqliteInterventions implements InterventionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async commands(group?: string): Promise<PendingCommand[]> {
    const rows = await this.#database.read((kysely) => {
      const pending = kysely
        .selectFrom("commands")
        .innerJoin("messages", "messages.seq", "commands.message")
        .selectAll("messages")
        .select("commands.command")
        .orderBy("commands.message");
      return (group === undefined ? pending : pending.where("commands.group_name", "=", group)).execute();
    });
    return rows.map(({ command, ...message }) => ({ command, message: toMessage(message) }));
  }

  carryOut(seq: number, change: CommandChange): Promise<SetAside | undefined> {
    return this.#database.write(async (transaction) => {
      const command = await transaction
        .deleteFrom("commands")
        .where("message", "=", seq)
        .returning("group_name")
        .executeTakeFirst();
      if (!command) return undefined;
      const found = change.stops ? await workBefore(transaction, command.group_name, seq) : { turns: [], waiting: [] };
      await setState(transaction, found.waiting, "handled");
      if (change.renews !== undefined) await renewSession(transaction, change.renews, seq);
      await conclude(transaction, found, { at: change.at, words: change.tell(found) });
      return found;
    });
  }

  giveUpOld(group: string, change: OldChange): Promise<SetAside> {
    return this.#database.write(async (transaction) => {
      const found = await workOlderThan(transaction, group, change.before);
      if (found.turns.length === 0 && found.waiting.length === 0) return found;
      await setState(transaction, found.waiting, "context");
      await conclude(transaction, found, { at: change.at, words: change.tell(found) });
      return found;
    });
  }
}

async function workBefore(transaction: Transaction<Tables>, group: string, seq: number): Promise<SetAside> {
  const turns = (await runningTurns(transaction, group)).filter(
    ({ messages }) => messages.length === 0 || messages.some((message) => message.seq < seq),
  );
  const waiting = await transaction
    .selectFrom("messages")
    .selectAll()
    .where("group_name", "=", group)
    .where(isWaiting)
    .where("seq", "<", seq)
    .orderBy("seq")
    .execute();
  return { turns, waiting: waiting.map(toMessage) };
}

async function workOlderThan(transaction: Transaction<Tables>, group: string, before: number): Promise<SetAside> {
  const turns = [];
  for (const running of await runningTurns(transaction, group)) {
    const { at } = await transaction
      .selectFrom("steps")
      .select((select) => select.fn.max("at").as("at"))
      .where("turn", "=", running.turn.id)
      .executeTakeFirstOrThrow();
    const latest = Math.max(running.turn.startedAt, at, ...running.messages.map((message) => message.receivedAt));
    if (latest < before) turns.push(running);
  }
  const waiting = await transaction
    .selectFrom("messages")
    .selectAll()
    .where("group_name", "=", group)
    .where(isWaiting)
    .where("received_at", "<", before)
    .orderBy("seq")
    .execute();
  return { turns, waiting: waiting.map(toMessage) };
}

async function runningTurns(transaction: Transaction<Tables>, group: string): Promise<SetAside["turns"]> {
  const rows = await transaction
    .selectFrom("turns")
    .selectAll()
    .where(isRunning)
    .where("group_name", "=", group)
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
