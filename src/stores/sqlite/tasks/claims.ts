import { sql, type Transaction } from "kysely";

import { mainSessionKey } from "../../../domain/turns/session.ts";
import type { Task } from "../../../domain/work/task.ts";
import type { NewRun, TaskClaim } from "../../contract/task-store.ts";
import { openSession } from "../conversation/sessions.ts";
import { insertWork, insertWorkAside } from "../conversation/work.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { isActive, isTaskRunning } from "./rows.ts";

/** Runs that are kept of a task. */
const keptRuns = 100;

export async function claimAll(
  transaction: Transaction<Tables>,
  claims: readonly TaskClaim[],
  at: number,
): Promise<number> {
  let begun = 0;
  for (const claim of claims) begun += await claimOne(transaction, claim, at);
  return begun;
}

async function claimOne(
  transaction: Transaction<Tables>,
  { task, runs, open, missed, next }: TaskClaim,
  at: number,
): Promise<number> {
  const taken = await transaction
    .updateTable("tasks")
    .set({ next_due: next ?? null, ...(next === undefined && { state: "done" as const }) })
    .where("id", "=", task.id)
    .where(isActive)
    .where("next_due", "=", task.next ?? null)
    .returning("id")
    .executeTakeFirst();
  if (!taken) return 0;
  if (missed) {
    const { due, reason } = missed;
    await insertRun(transaction, { task: task.id, due, state: "missed", claimed_at: at, ended_at: at, reason });
  }
  let unfinished = await unfinishedRuns(transaction, task.id);
  let begun = 0;
  for (const run of runs) {
    const isRoom = unfinished < open;
    const added = isRoom
      ? await beginRun(transaction, { task, run }, at)
      : await skipRun(transaction, { task, run }, at);
    if (!isRoom || !added) continue;
    unfinished += 1;
    begun += 1;
  }
  await forgetOldRuns(transaction, task.id);
  return begun;
}

export async function claimNow(
  transaction: Transaction<Tables>,
  given: { readonly task: Task; readonly run: NewRun },
  at: number,
): Promise<boolean> {
  if ((await unfinishedRuns(transaction, given.task.id)) > 0) return false;
  await beginRun(transaction, given, at);
  return true;
}

/** False when the due time was claimed before. */
async function beginRun(
  transaction: Transaction<Tables>,
  { task, run: { due, work } }: { readonly task: Task; readonly run: NewRun },
  at: number,
): Promise<boolean> {
  const row = { task: task.id, due, work: work.id, state: "running", claimed_at: at, attempts: 1 } as const;
  if (!(await insertRun(transaction, row))) return false;
  if (task.mode === "isolated") {
    await insertWorkAside(transaction, work, { group: task.group, kind: "task", id: task.id, ephemeral: true }, at);
    return true;
  }
  const { name: group } = task.group;
  const { id: session } = await openSession(transaction, mainSessionKey(task.group), { group });
  await insertWork(transaction, { ...work, group, session }, at);
  return true;
}

function skipRun(
  transaction: Transaction<Tables>,
  { task, run: { due } }: { readonly task: Task; readonly run: NewRun },
  at: number,
): Promise<boolean> {
  const reason = "the run before had not ended";
  return insertRun(transaction, { task: task.id, due, state: "skipped", claimed_at: at, ended_at: at, reason });
}

async function insertRun(
  transaction: Transaction<Tables>,
  row: Pick<Row<"task_runs">, "task" | "due" | "state" | "claimed_at"> & Partial<Row<"task_runs">>,
): Promise<boolean> {
  const added = await transaction
    .insertInto("task_runs")
    .values({ work: "", ended_at: null, attempts: 0, turn: null, reason: null, ...row })
    .onConflict((conflict) => conflict.columns(["task", "due"]).doNothing())
    .returning("due")
    .executeTakeFirst();
  if (!added) return false;
  await transaction.updateTable("tasks").set({ last_due: row.due }).where("id", "=", row.task).execute();
  return true;
}

/** Runs whose work is still to be done. */
async function unfinishedRuns(transaction: Transaction<Tables>, task: string): Promise<number> {
  const { count } = await transaction
    .selectFrom("task_runs")
    .innerJoin("work", "work.id", "task_runs.work")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("task_runs.task", "=", task)
    .where(isTaskRunning)
    .where("work.state", "in", ["due", "taken"])
    .executeTakeFirstOrThrow();
  return count;
}

async function forgetOldRuns(transaction: Transaction<Tables>, task: string): Promise<void> {
  await sql`delete from task_runs where task = ${task} and state <> 'running' and due in (
    select due from task_runs where task = ${task} order by due desc limit -1 offset ${keptRuns})`.execute(transaction);
}
