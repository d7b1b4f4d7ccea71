import type { NewTask, Task, TaskRun, TaskState } from "../../../domain/work/task.ts";
import type { EndedRun, NewRun, RunSettlement, TaskChange, TaskClaim, TaskStore } from "../../contract/task-store.ts";
import { sql } from "kysely";

import type { Database } from "../database/database.ts";
import { claimAll, claimNow } from "./claims.ts";
import { giveUpWaiting, settleRun } from "./settlements.ts";
import { endedRuns, isActive, selectTasks, toRun, toTask, toTaskRow } from "./rows.ts";

/** Tasks that are done and still kept of a group. */
const keptDone = 50;

export class SqliteTasks implements TaskStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  add(task: NewTask, limit: number): Promise<boolean> {
    const { name: group } = task.group;
    return this.#database.write(async (transaction) => {
      const { live } = await transaction
        .selectFrom("tasks")
        .select((select) => select.fn.countAll<number>().as("live"))
        .where("group_name", "=", group)
        .where("state", "<>", "done")
        .executeTakeFirstOrThrow();
      if (live >= limit) return false;
      await transaction.insertInto("tasks").values(toTaskRow(task)).execute();
      await sql`delete from tasks where id in (
        select id from tasks where group_name = ${group} and state = 'done'
          and not exists (select 1 from task_runs where task = tasks.id and task_runs.state = 'running')
        order by created_at desc limit -1 offset ${keptDone})`.execute(transaction);
      return true;
    });
  }

  async get(id: string): Promise<Task | undefined> {
    const rows = await this.#database.read((kysely) => selectTasks(kysely).where("tasks.id", "=", id).execute());
    return rows.map(toTask).at(0);
  }

  idsBeginningWith(prefix: string, limit: number): Promise<string[]> {
    return this.#database.idsBeginningWith("tasks", prefix, limit);
  }

  list({ group }: { readonly group?: string | undefined }): Promise<Task[]> {
    return this.#database.list(toTask, (kysely) => {
      const all = selectTasks(kysely).orderBy("tasks.created_at").orderBy("tasks.id");
      return group === undefined ? all : all.where("tasks.group_name", "=", group);
    });
  }

  async change(id: string, { timing, origins, next, ...change }: TaskChange): Promise<boolean> {
    const values = {
      ...change,
      ...(timing && { timing: JSON.stringify(timing), next_due: next ?? null }),
      ...(origins && { origins: JSON.stringify(origins) }),
    };
    const { numUpdatedRows } = await this.#database.write((transaction) =>
      transaction.updateTable("tasks").set(values).where("id", "=", id).executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  }

  setState(
    id: string,
    {
      state,
      reason,
      next,
    }: { readonly state: TaskState; readonly reason?: string | undefined; readonly next: number | undefined },
  ): Promise<boolean> {
    return this.#database.write(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("tasks")
        .set({ state, reason: reason ?? null, next_due: next ?? null, ...(state === "active" && { failures: 0 }) })
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      if (state !== "active") await giveUpWaiting(transaction, id, `the task is ${state}`);
      return numUpdatedRows > 0n;
    });
  }

  remove(id: string): Promise<boolean> {
    return this.#database.write(async (transaction) => {
      await giveUpWaiting(transaction, id, "the task was removed");
      const { numDeletedRows } = await transaction.deleteFrom("tasks").where("id", "=", id).executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    });
  }

  async nextDueAt(): Promise<number | undefined> {
    const row = await this.#database.read((kysely) =>
      kysely
        .selectFrom("tasks")
        .select("next_due")
        .where(isActive)
        .where("next_due", "is not", null)
        .orderBy("next_due")
        .limit(1)
        .executeTakeFirst(),
    );
    return row?.next_due ?? undefined;
  }

  due(now: number, limit: number): Promise<Task[]> {
    return this.#database.list(toTask, (kysely) =>
      selectTasks(kysely).where(isActive).where("next_due", "<=", now).orderBy("next_due").limit(limit),
    );
  }

  dueAfter(moment: number): Promise<Task[]> {
    return this.#database.list(toTask, (kysely) => selectTasks(kysely).where(isActive).where("next_due", ">", moment));
  }

  claim(claims: readonly TaskClaim[], at: number): Promise<number> {
    return this.#database.write((transaction) => claimAll(transaction, claims, at));
  }

  runNow(task: Task, run: NewRun, at: number): Promise<boolean> {
    return this.#database.write((transaction) => claimNow(transaction, { task, run }, at));
  }

  async isClaimed(task: string, due: number): Promise<boolean> {
    const row = await this.#database.read((kysely) =>
      kysely.selectFrom("task_runs").select("due").where("task", "=", task).where("due", "=", due).executeTakeFirst(),
    );
    return row !== undefined;
  }

  async lastClaimedAt(): Promise<number | undefined> {
    const row = await this.#database.read((kysely) =>
      kysely.selectFrom("task_runs").select("claimed_at").orderBy("claimed_at", "desc").limit(1).executeTakeFirst(),
    );
    return row?.claimed_at;
  }

  ended(limit: number, turn?: string): Promise<EndedRun[]> {
    return this.#database.read((kysely) => endedRuns(kysely, limit, turn));
  }

  settle(
    run: Pick<EndedRun, "task" | "due" | "attempts" | "turn" | "reason">,
    settlement: RunSettlement,
  ): Promise<boolean> {
    return this.#database.write((transaction) => settleRun(transaction, run, settlement));
  }

  runs(task: string, limit: number): Promise<TaskRun[]> {
    return this.#database.list(toRun, (kysely) =>
      kysely.selectFrom("task_runs").selectAll().where("task", "=", task).orderBy("due", "desc").limit(limit),
    );
  }

  async counts(): Promise<{ active: number; paused: number }> {
    const rows = await this.#database.read((kysely) =>
      kysely
        .selectFrom("tasks")
        .select(["state", (select) => select.fn.countAll<number>().as("count")])
        .where("state", "<>", "done")
        .groupBy("state")
        .execute(),
    );
    const of = (state: TaskState): number => rows.find((row) => row.state === state)?.count ?? 0;
    return { active: of("active"), paused: of("paused") };
  }
}
