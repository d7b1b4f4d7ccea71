import { type Kysely, sql, type Transaction } from "kysely";

import type { NewTask, Task, TaskRun } from "../../../domain/work/task.ts";
import type { EndedRun } from "../../contract/task-store.ts";
import { parseTiming } from "../schema/json-columns.ts";
import { toLineage, toLineageColumns } from "../schema/lineage-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";

// A literal, so that SQLite sees that the partial index applies.
export const isActive = sql<boolean>`tasks.state = 'active'`;
export const isTaskRunning = sql<boolean>`task_runs.state = 'running'`;

type JoinedRow = Row<"tasks"> & {
  readonly run_due: number | null;
  readonly run_state: TaskRun["state"] | null;
  readonly run_claimed_at: number | null;
  readonly run_ended_at: number | null;
  readonly run_attempts: number | null;
  readonly run_turn: string | null;
  readonly run_reason: string | null;
};

/** Tasks, each with the run that was claimed last. */
// What the query builder returns is not to be written down.
// oxlint-disable-next-line typescript/explicit-function-return-type
export function selectTasks(kysely: Kysely<Tables> | Transaction<Tables>) {
  return kysely
    .selectFrom("tasks")
    .leftJoin("task_runs", (join) =>
      join.onRef("task_runs.task", "=", "tasks.id").onRef("task_runs.due", "=", "tasks.last_due"),
    )
    .selectAll("tasks")
    .select([
      "task_runs.due as run_due",
      "task_runs.state as run_state",
      "task_runs.claimed_at as run_claimed_at",
      "task_runs.ended_at as run_ended_at",
      "task_runs.attempts as run_attempts",
      "task_runs.turn as run_turn",
      "task_runs.reason as run_reason",
    ]);
}

/**
 * Runs that are over and not settled, the one that was claimed first at the top; `turn`: only what this turn has worked
 * on.
 */
export async function endedRuns(kysely: Kysely<Tables>, limit: number, turn?: string): Promise<EndedRun[]> {
  const all = kysely
    .selectFrom("task_runs")
    .innerJoin("work", "work.id", "task_runs.work")
    .leftJoin("turns", "turns.id", "work.turn")
    .select(["task_runs.task", "task_runs.due", "task_runs.attempts", "work.reason as dropped"])
    .select(["turns.id as turn", "turns.session", "turns.state as turn_state", "turns.reason as turn_reason"])
    .where(isTaskRunning)
    .where("work.state", "in", ["settled", "dropped"])
    .orderBy("task_runs.claimed_at")
    .limit(limit);
  const runs = await (turn === undefined ? all : all.where("work.turn", "=", turn)).execute();
  const ended: EndedRun[] = [];
  for (const run of runs) {
    const { task: id, due, attempts, dropped, session, turn_state: state, turn_reason: reason } = run;
    const row = await selectTasks(kysely).where("tasks.id", "=", id).executeTakeFirstOrThrow();
    const found =
      run.turn !== null && session !== null && state !== null ? { id: run.turn, session, state } : undefined;
    ended.push({ task: toTask(row), due, attempts, turn: found, reason: reason ?? dropped ?? undefined });
  }
  return ended;
}

export function toTaskRow(task: NewTask): Row<"tasks"> {
  const { group, timing, lineage, next, createdAt, ...rest } = task;
  return {
    ...rest,
    group_name: group.name,
    channel: group.channel,
    chat: group.chat,
    timing: JSON.stringify(timing),
    ...toLineageColumns(lineage),
    state: "active",
    reason: null,
    failures: 0,
    next_due: next ?? null,
    last_due: null,
    created_at: createdAt,
    agent: group.agent ?? null,
  };
}

export function toTask(row: JoinedRow): Task {
  return {
    id: row.id,
    group: {
      name: row.group_name,
      channel: row.channel,
      chat: row.chat,
      ...(row.agent !== null && { agent: row.agent }),
    },
    name: row.name,
    prompt: row.prompt,
    timing: parseTiming(row.timing),
    timezone: row.timezone,
    mode: row.mode,
    missed: row.missed,
    origin: row.origin,
    lineage: toLineage(row),
    next: row.next_due ?? undefined,
    createdAt: row.created_at,
    state: row.state,
    reason: row.reason ?? undefined,
    failures: row.failures,
    lastRun: lastRunOf(row),
  };
}

function lastRunOf(row: JoinedRow): TaskRun | undefined {
  const { run_due: due, run_state: state, run_claimed_at: claimedAt } = row;
  if (due === null || state === null || claimedAt === null) return undefined;
  return {
    task: row.id,
    due,
    state,
    claimedAt,
    endedAt: row.run_ended_at ?? undefined,
    attempts: row.run_attempts ?? 0,
    turn: row.run_turn ?? undefined,
    reason: row.run_reason ?? undefined,
  };
}

export function toRun(row: Row<"task_runs">): TaskRun {
  return {
    task: row.task,
    due: row.due,
    state: row.state,
    claimedAt: row.claimed_at,
    endedAt: row.ended_at ?? undefined,
    attempts: row.attempts,
    turn: row.turn ?? undefined,
    reason: row.reason ?? undefined,
  };
}
