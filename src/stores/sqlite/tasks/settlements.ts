import { sql, type Transaction } from "kysely";

import type { EndedRun, RunSettlement } from "../../contract/task-store.ts";
import { insertOutgoing } from "../conversation/outbox.ts";
import { reviveSession } from "../conversation/sessions.ts";
import type { Tables } from "../schema/tables.ts";

export async function settleRun(
  transaction: Transaction<Tables>,
  { task, due, attempts, turn, reason }: Pick<EndedRun, "task" | "due" | "attempts" | "turn" | "reason">,
  settlement: RunSettlement,
): Promise<boolean> {
  const { state, at, retryAt, failures, pause, outgoing } = settlement;
  const run = await transaction
    .updateTable("task_runs")
    .set({
      ...(retryAt === undefined ? { state, ended_at: at } : { attempts: attempts + 1 }),
      turn: turn?.id ?? null,
      reason: reason ?? null,
    })
    .where("task", "=", task.id)
    .where("due", "=", due)
    .where("state", "=", "running")
    .where("attempts", "=", attempts)
    .returning("work")
    .executeTakeFirst();
  if (!run) return false;
  if (retryAt !== undefined) await doAgain(transaction, run.work, retryAt);
  await transaction
    .updateTable("tasks")
    .set({ failures, ...(pause !== undefined && { state: "paused" as const, reason: pause }) })
    .where("id", "=", task.id)
    .execute();
  if (pause !== undefined) await giveUpWaiting(transaction, task.id, "the task is paused");
  for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
  return true;
}

/** Work that a failed turn has settled is due once more, in a session that may have been archived meanwhile. */
async function doAgain(transaction: Transaction<Tables>, id: string, dueAt: number): Promise<void> {
  const work = await transaction
    .updateTable("work")
    .set({ state: "due", turn: null, due_at: dueAt })
    .where("id", "=", id)
    .returning("session")
    .executeTakeFirstOrThrow();
  const session = await transaction
    .selectFrom("sessions")
    .select(["archived_at", "ephemeral"])
    .where("id", "=", work.session)
    .executeTakeFirst();
  if (session?.archived_at !== null && session?.ephemeral === 1) await reviveSession(transaction, work.session);
}

/** Drops the work of a task's runs that no turn has begun. */
export async function giveUpWaiting(transaction: Transaction<Tables>, task: string, reason: string): Promise<void> {
  await sql`update work set state = 'dropped', reason = ${reason} where state = 'due' and id in (
    select work from task_runs where task = ${task} and state = 'running')`.execute(transaction);
}
