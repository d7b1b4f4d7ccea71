import { sql, type Transaction } from "kysely";

import type { ToldFacts } from "../../../domain/turns/conversation.ts";
import type { Lease } from "../../../domain/turns/lease.ts";
import type { OutgoingMessage } from "../../../domain/chats/message.ts";
import { blobsOf, type Step, type Turn } from "../../../domain/turns/turn.ts";
import { type Lineage, unknownLineage, withOrigins } from "../../../domain/rights/lineage.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { NewStep, TurnStore } from "../../contract/store.ts";
import { referToBlobs } from "../blobs.ts";
import type { Database } from "../database/database.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseReplyTarget, parseStepBody, parseTexts, parseTimes } from "../schema/json-columns.ts";
import { toLineage, toLineageColumns } from "../schema/lineage-columns.ts";
import { endSubAgentTurn, insertSubAgents } from "./sub-agent-rows.ts";
import { cancelApprovals, insertApprovals, insertStanding } from "./approval-rows.ts";
import { expose, joinTurn, lineageAtFirst } from "./origins.ts";
import { insertOutgoing } from "./outbox.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { statement, written } from "../database/statement.ts";
import { outlineTurns } from "./turn-outlines.ts";
import { insertWork, settleWork, takeWork } from "./work.ts";

type BeginningTurn = Parameters<TurnStore["begin"]>[0];
type TurnEnd = Parameters<TurnStore["finish"]>[1];

export const isRunning = sql<boolean>`state = 'running'`;

const selectRunning = statement((kysely, { session }: { readonly session: string }) =>
  kysely.selectFrom("turns").selectAll().where("session", "=", session).where(isRunning),
);

const selectHistory = statement(
  (kysely, { session, conversation, from }: { session: string; conversation: number; from: number }) =>
    kysely
      .selectFrom("steps")
      .selectAll()
      .where("session", "=", session)
      .where("conversation", "=", conversation)
      .where("seq", ">=", from)
      .orderBy("seq"),
);

const selectSession = statement((kysely, { id }: { readonly id: string }) =>
  kysely.selectFrom("sessions").select(["lease_generation", "archived_at"]).where("id", "=", id),
);

type NewTurn = Pick<
  Row<"turns">,
  | "id"
  | "group_name"
  | "session"
  | "conversation"
  | "started_at"
  | "cause"
  | "reply_to"
  | "role"
  | "origins"
  | "people"
  | "narrowed"
>;

const insertTurn = statement((kysely, row: NewTurn) =>
  kysely
    .insertInto("turns")
    .values({
      id: row.id,
      group_name: row.group_name,
      session: row.session,
      conversation: row.conversation,
      state: "running",
      attempts: 1,
      started_at: row.started_at,
      ended_at: null,
      reason: null,
      times: null,
      cause: row.cause,
      reply_to: row.reply_to,
      role: row.role,
      origins: row.origins,
      people: row.people,
      narrowed: row.narrowed,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll(),
);

type EndedTurn = Pick<Row<"turns">, "id" | "state" | "ended_at" | "reason" | "times">;

const endTurn = statement((kysely, { id, state, ended_at, reason, times }: EndedTurn) =>
  kysely.updateTable("turns").set({ state, ended_at, reason, times }).where("id", "=", id),
);

const settleMessages = statement((kysely, { id }: { readonly id: string }) =>
  kysely.updateTable("messages").set({ state: "answered" }).where("turn", "=", id).where("state", "=", "taken"),
);

/** `seqs`: of the messages, as JSON. */
const returnMessages = statement((kysely, { turn, seqs }: { readonly turn: string; readonly seqs: string }) =>
  kysely
    .updateTable("messages")
    .set({ state: "waiting", turn: null })
    .where(sql<boolean>`seq in (select value from json_each(${seqs}))`)
    .where("turn", "=", turn)
    .where("state", "=", "taken")
    .where("pruned", "=", 0),
);

type NewStepRow = Omit<Row<"steps">, "seq">;

const insertStep = statement((kysely, { turn, session, conversation, at, tokens, body }: NewStepRow) =>
  kysely.insertInto("steps").values({ turn, session, conversation, at, tokens, body }).returningAll(),
);

/** `seqs`: of the messages, as JSON. */
const takeMessages = statement((kysely, { turn, group, seqs }: { turn: string; group: string; seqs: string }) =>
  kysely
    .updateTable("messages")
    .set({ state: "taken", turn })
    .where(sql<boolean>`seq in (select value from json_each(${seqs}))`)
    .where("group_name", "=", group)
    .where("state", "=", "waiting")
    .returning("seq"),
);

const moveCursor = statement((kysely, { session, cursor }: { readonly session: string; readonly cursor: number }) =>
  kysely
    .updateTable("sessions")
    .set({ context_cursor: sql<number>`max(context_cursor, ${cursor})` })
    .where("id", "=", session),
);

/**
 * Turns in SQLite. An ended turn never changes (AppError `conflict`), and dropped work is not taken: "/stop" has the
 * last word. Writes are synced before anything follows from them: tool calls, which must never be silently repeated,
 * and ends, after which the reply is visible. Anything else that a power loss takes back is repeated: messages wait
 * again, the model is asked again, and a lost result counts as unknown.
 */
export const sqliteTurns = onDatabase<TurnStore>({
  begin: (database, turn, first, lease) =>
    database.writeSoon((transaction) => begin(transaction, { turn, first, lease })),

  addStep(database, turn, step, lease) {
    const change = async (transaction: Transaction<Tables>): Promise<Step> =>
      appendStep(transaction, await runningTurn(transaction, turn, lease), step);
    const hasCalls = step.body.kind === "model" && step.body.answer.toolCalls.length > 0;
    return hasCalls ? database.write(change) : database.writeSoon(change);
  },

  addAttempt: (database, turn, lease) =>
    database.write(async (transaction) => {
      const { attempts } = await runningTurn(transaction, turn, lease);
      await transaction
        .updateTable("turns")
        .set({ attempts: attempts + 1 })
        .where("id", "=", turn)
        .execute();
      return attempts + 1;
    }),

  finish: (database, turn, end, lease) =>
    database.write((transaction) => finishTurn(transaction, turn, { ...end, lease })),

  get: (database, id) =>
    database.first(toTurn, (kysely) => kysely.selectFrom("turns").selectAll().where("id", "=", id)),

  idsBeginningWith: (database, prefix, limit) => database.idsBeginningWith("turns", prefix, limit),

  running: (database) =>
    database.list(toTurn, (kysely) => kysely.selectFrom("turns").selectAll().where(isRunning).orderBy("seq")),

  async runningIn(database, session) {
    const [row] = await database.read((kysely) => selectRunning(kysely, { session }));
    return row && toTurn(row);
  },

  list: (database, { group, limit }) =>
    database.list(toTurn, (kysely) => {
      const newest = kysely.selectFrom("turns").selectAll().orderBy("seq", "desc").limit(limit);
      return group === undefined ? newest : newest.where("group_name", "=", group);
    }),

  outlines: (database, turns) => outlineTurns(database, turns),

  async pace(database, group, { since, limit, detailed }) {
    const newestFirst = await database.read((kysely) =>
      kysely
        .selectFrom("turns")
        .select(["id", "started_at", "ended_at"])
        .where("group_name", "=", group)
        .orderBy("seq", "desc")
        .limit(limit)
        .execute(),
    );
    const turns = newestFirst.filter(({ started_at }) => started_at >= since);
    const beginnings = await readBeginnings(
      database,
      turns.slice(0, detailed).map(({ id }) => id),
    );
    return turns.toReversed().map(({ id, started_at, ended_at }) => ({
      id,
      startedAt: started_at,
      endedAt: ended_at ?? undefined,
      firstAt: beginnings.get(id)?.firstAt,
      senders: beginnings.get(id)?.senders ?? [],
    }));
  },

  steps: (database, turn) =>
    database.list(toStep, (kysely) => kysely.selectFrom("steps").selectAll().where("turn", "=", turn).orderBy("seq")),

  lastStep: (database, turn) =>
    database.first(toStep, (kysely) =>
      kysely.selectFrom("steps").selectAll().where("turn", "=", turn).orderBy("seq", "desc").limit(1),
    ),

  async history(database, session, conversation, from) {
    const rows = await database.read((kysely) => selectHistory(kysely, { session, conversation, from }));
    return rows.map(toStep);
  },
});

async function readBeginnings(
  database: Database,
  turns: readonly string[],
): Promise<Map<string, { firstAt: number; senders: string[] }>> {
  const rows = await database.read((kysely) =>
    kysely
      .selectFrom("messages")
      .select(["turn", sql<string>`json_group_array(distinct sender_id)`.as("senders")])
      .select((select) => select.fn.min("received_at").as("firstAt"))
      .where("turn", "is not", null)
      .where(sql<boolean>`turn in (select value from json_each(${JSON.stringify(turns)}))`)
      .groupBy("turn")
      .execute(),
  );
  return new Map(rows.map(({ turn, senders, firstAt }) => [turn ?? "", { firstAt, senders: parseTexts(senders) }]));
}

async function begin(
  transaction: Transaction<Tables>,
  { turn, first, lease }: { readonly turn: BeginningTurn; readonly first: NewStep; readonly lease: Lease | undefined },
): Promise<{ turn: Turn; step: Step }> {
  const [session] = await selectSession(transaction, { id: turn.session });
  if (!session) throw new AppError("not_found", `Turn ${turn.id} cannot begin: there is no session ${turn.session}.`);
  if (session.archived_at !== null)
    throw new AppError("gone", `Turn ${turn.id} cannot begin: session ${turn.session} was archived.`);
  refuseFenced(lease, session.lease_generation);
  const [row] = await insertTurn(transaction, {
    id: turn.id,
    group_name: turn.group,
    session: turn.session,
    conversation: turn.conversation,
    started_at: turn.at,
    cause: turn.cause,
    reply_to: JSON.stringify(turn.replyTo),
    ...toLineageColumns(await lineageAtFirst(transaction, turn, causeOf(first))),
  });
  if (!row) throw new AppError("conflict", `Turn ${turn.id} has already begun.`);
  return { turn: toTurn(row), step: await appendStep(transaction, row, first) };
}

function causeOf({ takes, takesWork }: NewStep): Lineage {
  return takes?.lineage ?? takesWork?.lineage ?? unknownLineage;
}

/** Ends a turn inside the caller's transaction; one that has ended is left as it is. */
export async function finishTurn(
  transaction: Transaction<Tables>,
  id: string,
  end: TurnEnd & { readonly lease?: Lease | undefined },
): Promise<OutgoingMessage[] | undefined> {
  const turn = await findTurn(transaction, id, end.lease);
  if (turn.state !== "running") return undefined;
  for (const step of end.steps) await appendStep(transaction, turn, step);
  const times = end.times === undefined ? null : JSON.stringify(end.times);
  await endTurn(transaction, { id, state: end.state, ended_at: end.at, reason: end.reason ?? null, times });
  if (end.waitAgain && end.waitAgain.length > 0)
    await returnMessages(transaction, { turn: id, seqs: JSON.stringify(end.waitAgain) });
  await settleMessages(transaction, { id });
  if (turn.cause !== "message") await settleWork(transaction, id);
  if (turn.cause === "agent") await endSubAgentTurn(transaction, turn, { ...end, text: end.handsBack ?? end.reason });
  if (turn.asked === 1) await cancelApprovals(transaction, id, end.at);
  return handOn(transaction, turn, end);
}

/** Passes on the end of a turn: to sessions as work, which inherits all from it, to chats as messages. */
async function handOn(
  transaction: Transaction<Tables>,
  turn: Row<"turns">,
  { work = [], outgoing, asks = [], at }: TurnEnd,
): Promise<OutgoingMessage[]> {
  const lineage = withOrigins(toLineage(turn), ["agent"]);
  for (const item of work) await insertWork(transaction, { ...item, lineage }, at);
  const messages = [];
  for (const draft of outgoing) messages.push(await insertOutgoing(transaction, draft, at));
  for (const asked of asks) await insertStanding(transaction, asked);
  return messages;
}

async function appendStep(transaction: Transaction<Tables>, turn: Row<"turns">, step: NewStep): Promise<Step> {
  const joining: Lineage[] = [];
  if (step.takes) joining.push(await take(transaction, turn, step.takes));
  if (step.takesWork) joining.push(await takeWork(transaction, turn, step.takesWork));
  const joined = joining.length === 0 ? turn : await joinTurn(transaction, turn, joining);
  if (step.exposure) await expose(transaction, joined, { ...step.exposure, at: step.at });
  if (step.tells) await noteTold(transaction, turn, step.tells);
  const [inserted] = await insertStep(transaction, {
    turn: turn.id,
    session: turn.session,
    conversation: turn.conversation,
    at: step.at,
    tokens: step.tokens,
    body: JSON.stringify(step.body),
  });
  const row = written(inserted);
  await referToBlobs(transaction, row, blobsOf(step.body));
  await insertApprovals(transaction, { turn, step: row.seq, asks: step.asks ?? [] });
  if (step.spawns) await insertSubAgents(transaction, { turn: joined, step: row.seq, spawns: step.spawns });
  return toStep(row);
}

async function noteTold(transaction: Transaction<Tables>, turn: Row<"turns">, told: ToldFacts): Promise<void> {
  await transaction
    .updateTable("conversation_prompts")
    .set({ told: JSON.stringify(told) })
    .where("session", "=", turn.session)
    .where("conversation", "=", turn.conversation)
    .execute();
}

async function take(
  transaction: Transaction<Tables>,
  turn: Row<"turns">,
  takes: NonNullable<NewStep["takes"]>,
): Promise<Lineage> {
  const seqs = new Set(takes.messages);
  const listed = JSON.stringify([...seqs]);
  const taken = await takeMessages(transaction, { turn: turn.id, group: turn.group_name, seqs: listed });
  if (taken.length < seqs.size)
    throw new AppError("gone", `Turn ${turn.id} cannot take messages ${listed}: not all of them wait anymore.`);
  await moveCursor(transaction, { session: turn.session, cursor: takes.cursor });
  return takes.lineage;
}

/** Refused are writers whose lease is not the session's last one. */
async function findTurn(transaction: Transaction<Tables>, id: string, lease?: Lease): Promise<Row<"turns">> {
  // In front of every write of a turn: building this query would take longer than running it.
  const found = await sql<Row<"turns"> & Pick<Row<"sessions">, "lease_generation">>`
    select turns.*, sessions.lease_generation from turns join sessions on sessions.id = turns.session
    where turns.id = ${id}`.execute(transaction);
  const row = found.rows[0];
  if (!row) throw new AppError("not_found", `There is no turn ${id}.`);
  refuseFenced(lease, row.lease_generation);
  return row;
}

/** AppError `fenced` for a lease that was followed by another one. */
export function refuseFenced(lease: Lease | undefined, current: number): void {
  if (lease === undefined || lease.generation === current) return;
  throw new AppError(
    "fenced",
    `The lease ${lease.generation} of session ${lease.session} was followed by lease ${current}: another host works on it.`,
  );
}

/** AppErrors `conflict` for a turn that has ended, `fenced` for a lease that is not its session's last one. */
export async function runningTurn(transaction: Transaction<Tables>, id: string, lease?: Lease): Promise<Row<"turns">> {
  const row = await findTurn(transaction, id, lease);
  if (row.state !== "running")
    throw new AppError("conflict", `Turn ${id} is ${row.state}: nothing can be added to it.`);
  return row;
}

export function toTurn(row: Row<"turns">): Turn {
  return {
    id: row.id,
    group: row.group_name,
    session: row.session,
    conversation: row.conversation,
    cause: row.cause,
    replyTo: parseReplyTarget(row.reply_to),
    state: row.state,
    attempts: row.attempts,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
    reason: row.reason ?? undefined,
    times: row.times === null ? undefined : parseTimes(row.times),
    lineage: toLineage(row),
  };
}

function toStep(row: Row<"steps">): Step {
  return { seq: row.seq, turn: row.turn, at: row.at, tokens: row.tokens, body: parseStepBody(row.body) };
}
