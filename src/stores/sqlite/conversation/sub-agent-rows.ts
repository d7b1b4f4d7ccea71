import { type Kysely, sql, type Transaction } from "kysely";

import { inherit, type Lineage, withOrigins } from "../../../domain/rights/lineage.ts";
import {
  lineageOfTask,
  type NewSubAgent,
  type SubAgent,
  type SubAgentState,
  subAgentId,
} from "../../../domain/work/sub-agent.ts";
import { parseOrigins, parseTexts } from "../schema/json-columns.ts";
import { type LineageColumns, toLineage, toLineageColumns } from "../schema/lineage-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { isDue } from "./is-due.ts";
import { openSession } from "./sessions.ts";
import { insertWork } from "./work.ts";

// Literals, so that SQLite sees that the partial index applies.
export const isLive = sql<boolean>`sub_agents.removed_at is null`;
export const hasNotEnded = sql<boolean>`sub_agents.removed_at is null and sub_agents.state = 'running'`;

const answerChars = 16_000;

type SpawningTurn = Pick<Row<"turns">, "id" | "session" | "conversation" | "group_name" | "origins">;

/**
 * The skills that its call names, as JSON: the call is in the step with which it began, so there is no copy that could
 * say something else. Where that step is gone, none is left to it.
 */
export const wantedSkills = sql<string>`coalesce((
  select coalesce(json_extract(steps.body, '$.answer.toolCalls[' || sub_agents.position || '].input.skills'), 'null')
  from steps where steps.seq = sub_agents.step), '[]')`;

/** Begins the sub-agents of a step, each with its session and its work, in the transaction of that step. */
export async function insertSubAgents(
  transaction: Transaction<Tables>,
  {
    turn,
    step,
    spawns,
  }: { readonly turn: SpawningTurn; readonly step: number; readonly spawns: readonly NewSubAgent[] },
): Promise<void> {
  for (const spawn of spawns) await insertSubAgent(transaction, { turn, step, spawn });
}

async function insertSubAgent(
  transaction: Transaction<Tables>,
  { turn, step, spawn }: { readonly turn: SpawningTurn; readonly step: number; readonly spawn: NewSubAgent },
): Promise<void> {
  const known = await transaction
    .selectFrom("sub_agents")
    .select("number")
    .where("step", "=", step)
    .where("position", "=", spawn.position)
    .executeTakeFirst();
  if (known) return;
  const isRefused = (await countRunning(transaction, turn.group_name)) >= spawn.atOnce;
  const session = isRefused ? null : await openOwnSession(transaction, turn, spawn);
  await transaction
    .insertInto("sub_agents")
    .values({ ...describe({ turn, step, spawn }), ...(isRefused ? refused(spawn) : fresh), session })
    .execute();
  if (session !== null) await giveTask(transaction, { turn, spawn, session });
}

const fresh = { state: "running", text: null, ended_at: null, delivered_at: null, removed_at: null } as const;

/** It has never begun: nothing is left to be done about it. */
function refused({ createdAt, atOnce }: NewSubAgent) {
  const text = `At most ${atOnce} sub-agents may be at work at once in a group. Wait for one of them, or do it yourself.`;
  return { state: "failed", text, ended_at: createdAt, delivered_at: createdAt, removed_at: createdAt } as const;
}

function describe({
  turn,
  step,
  spawn,
}: {
  readonly turn: SpawningTurn;
  readonly step: number;
  readonly spawn: NewSubAgent;
}) {
  return {
    number: spawn.number,
    group_name: turn.group_name,
    parent: turn.session,
    conversation: turn.conversation,
    turn: turn.id,
    step,
    call_id: spawn.call,
    position: spawn.position,
    depth: spawn.depth,
    background: spawn.background ? 1 : 0,
    forks_from: spawn.forksFrom ?? null,
    task: spawn.task,
    profile: spawn.profile ?? null,
    route: spawn.route ?? null,
    ...toLineageColumns(lineageOf(turn, spawn)),
    files: "[]",
    created_at: spawn.createdAt,
    expires_at: spawn.expiresAt,
    released_at: null,
  };
}

async function openOwnSession(
  transaction: Transaction<Tables>,
  { group_name: group, session: parent }: SpawningTurn,
  { key }: NewSubAgent,
): Promise<string> {
  return (await openSession(transaction, key, { group, kind: "agent", parent })).id;
}

async function giveTask(
  transaction: Transaction<Tables>,
  { turn, spawn, session }: { readonly turn: SpawningTurn; readonly spawn: NewSubAgent; readonly session: string },
): Promise<void> {
  const id = subAgentId(spawn.number);
  await insertWork(
    transaction,
    {
      id: `agent:${id}:1`,
      group: turn.group_name,
      session,
      cause: "agent",
      dueAt: spawn.createdAt,
      dedupe: `agent:${id}:1`,
      replyTo: { kind: "session", session: turn.session },
      origin: "agent",
      lineage: lineageOfTask(lineageOf(turn, spawn), spawn),
      text: spawn.text,
    },
    spawn.createdAt,
  );
}

/** Lineage of a sub-agent of the turn, which may have read more since it was prepared. */
function lineageOf({ origins }: Pick<SpawningTurn, "origins">, { lineage }: NewSubAgent): Lineage {
  return withOrigins(lineage, parseOrigins(origins));
}

async function countRunning(transaction: Transaction<Tables>, group: string): Promise<number> {
  const { count } = await transaction
    .selectFrom("sub_agents")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("group_name", "=", group)
    .where(hasNotEnded)
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Inside the transaction that ends its turn: what a sub-agent answered is its result. Where more was said to it
 * meanwhile its next turn takes that up, and what it answers then is added. No effect for a turn of another session.
 */
export async function endSubAgentTurn(
  transaction: Transaction<Tables>,
  turn: Pick<Row<"turns">, "session" | keyof LineageColumns>,
  end: { readonly state: "done" | "failed" | "cancelled"; readonly text: string | undefined; readonly at: number },
): Promise<void> {
  const row = await transaction
    .selectFrom("sub_agents")
    .select(["number", "text", "role", "origins", "people", "narrowed"])
    .where("session", "=", turn.session)
    .where("state", "=", "running")
    .executeTakeFirst();
  if (!row) return;
  const text = end.state === "done" ? withEarlier(row.text, end.text) : end.text;
  const more = await transaction
    .selectFrom("work")
    .select("seq")
    .where("session", "=", turn.session)
    .where(isDue)
    .limit(1)
    .executeTakeFirst();
  if (more && end.state === "done") {
    await transaction.updateTable("sub_agents").set({ text }).where("number", "=", row.number).execute();
    return;
  }
  await setEnded(transaction, row, { ...end, text, turn });
}

/** Joins answers; when both are too long, the last one counts. */
function withEarlier(earlier: string | null, text = ""): string {
  const both = earlier === null || earlier === "" ? text : `${earlier}\n\n${text}`;
  return both.length > answerChars ? text : both;
}

export async function setEnded(
  transaction: Transaction<Tables>,
  row: Pick<Row<"sub_agents">, "number" | keyof LineageColumns>,
  end: {
    readonly state: Exclude<SubAgentState, "running">;
    readonly text: string | undefined;
    readonly at: number;
    /** Its last turn; undefined: none has begun. */
    readonly turn: LineageColumns | undefined;
  },
): Promise<void> {
  const { state, text, at, turn } = end;
  await transaction
    .updateTable("sub_agents")
    .set({
      state,
      text: text ?? null,
      ended_at: at,
      ...(turn && toLineageColumns(atItsEnd(toLineage(row), toLineage(turn)))),
    })
    .where("number", "=", row.number)
    .execute();
}

/** Its own profile narrows what it does, and not what its parent does with the result. */
function atItsEnd(own: Lineage, turn: Lineage): Lineage {
  return inherit([own, { ...turn, narrowed: own.narrowed }]);
}

/** True when the turn waits for a sub-agent. */
export async function hasAwaited(kysely: Kysely<Tables>, turn: string): Promise<boolean> {
  const row = await kysely
    .selectFrom("sub_agents")
    .select("number")
    .where("turn", "=", turn)
    .where("background", "=", 0)
    .where("delivered_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** When the turn last got the result of a sub-agent; 0: never. */
export async function lastDelivery(kysely: Kysely<Tables>, turn: string): Promise<number> {
  const row = await kysely
    .selectFrom("sub_agents")
    .select((select) => select.fn.max<number | null>("delivered_at").as("at"))
    .where("turn", "=", turn)
    .executeTakeFirst();
  return row?.at ?? 0;
}

export function toSubAgent(row: Row<"sub_agents"> & { readonly skills?: string }): SubAgent {
  const { skills = "null" } = row;
  return {
    id: subAgentId(row.number),
    number: row.number,
    group: row.group_name,
    session: row.session ?? undefined,
    parent: row.parent,
    conversation: row.conversation,
    turn: row.turn,
    step: row.step,
    call: row.call_id,
    position: row.position,
    depth: row.depth,
    background: row.background === 1,
    forksFrom: row.forks_from ?? undefined,
    task: row.task,
    profile: row.profile ?? undefined,
    route: row.route ?? undefined,
    skills: skills === "null" ? undefined : parseTexts(skills),
    lineage: toLineage(row),
    state: row.state,
    text: row.text ?? undefined,
    files: parseTexts(row.files),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at ?? undefined,
    deliveredAt: row.delivered_at ?? undefined,
    removedAt: row.removed_at ?? undefined,
  };
}
