import type { TaskState } from "../../../domain/work/task.ts";
import type { TaskStore } from "../../contract/task-store.ts";
import { sql } from "kysely";

import { onDatabase } from "../database/on-database.ts";
import { claimAll, claimNow } from "./claims.ts";
import { giveUpWaiting, settleRun } from "./settlements.ts";
import { toLineageColumns } from "../schema/lineage-columns.ts";
import { endedRuns, isActive, selectTasks, toRun, toTask, toTaskRow } from "./rows.ts";

/** Tasks that are done and still kept of a group. */
const keptDone = 50;

export const sqliteTasks = onDatabase<TaskStore>({
  add(database, task, limit) {
    const { name: group } = task.group;
    return database.write(async (transaction) => {
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
  },

  async get(database, id) {
    const rows = await database.read((kysely) => selectTasks(kysely).where("tasks.id", "=", id).execute());
    return rows.map(toTask).at(0);
  },

  idsBeginningWith: (database, prefix, limit) => database.idsBeginningWith("tasks", prefix, limit),

  list: (database, { group }) =>
    database.list(toTask, (kysely) => {
      const all = selectTasks(kysely).orderBy("tasks.created_at").orderBy("tasks.id");
      return group === undefined ? all : all.where("tasks.group_name", "=", group);
    }),

  async change(database, id, { timing, lineage, next, ...change }) {
    const values = {
      ...change,
      ...(timing && { timing: JSON.stringify(timing), next_due: next ?? null }),
      ...(lineage && toLineageColumns(lineage)),
    };
    const { numUpdatedRows } = await database.write((transaction) =>
      transaction.updateTable("tasks").set(values).where("id", "=", id).executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  },

  setState: (database, id, { state, reason, next }) =>
    database.write(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("tasks")
        .set({ state, reason: reason ?? null, next_due: next ?? null, ...(state === "active" && { failures: 0 }) })
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      if (state !== "active") await giveUpWaiting(transaction, id, `the task is ${state}`);
      return numUpdatedRows > 0n;
    }),

  remove: (database, id) =>
    database.write(async (transaction) => {
      await giveUpWaiting(transaction, id, "the task was removed");
      const { numDeletedRows } = await transaction.deleteFrom("tasks").where("id", "=", id).executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    }),

  async nextDueAt(database) {
    const row = await database.read((kysely) =>
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
  },

  due: (database, now, limit) =>
    database.list(toTask, (kysely) =>
      selectTasks(kysely).where(isActive).where("next_due", "<=", now).orderBy("next_due").limit(limit),
    ),

  dueAfter: (database, moment) =>
    database.list(toTask, (kysely) => selectTasks(kysely).where(isActive).where("next_due", ">", moment)),

  claim: (database, claims, at) => database.write((transaction) => claimAll(transaction, claims, at)),

  runNow: (database, task, run, at) => database.write((transaction) => claimNow(transaction, { task, run }, at)),

  async isClaimed(database, task, due) {
    const row = await database.read((kysely) =>
      kysely.selectFrom("task_runs").select("due").where("task", "=", task).where("due", "=", due).executeTakeFirst(),
    );
    return row !== undefined;
  },

  async lastClaimedAt(database) {
    const row = await database.read((kysely) =>
      kysely.selectFrom("task_runs").select("claimed_at").orderBy("claimed_at", "desc").limit(1).executeTakeFirst(),
    );
    return row?.claimed_at;
  },

  ended: (database, limit, turn) => database.read((kysely) => endedRuns(kysely, limit, turn)),

  settle: (database, run, settlement) => database.write((transaction) => settleRun(transaction, run, settlement)),

  runs: (database, task, limit) =>
    database.list(toRun, (kysely) =>
      kysely.selectFrom("task_runs").selectAll().where("task", "=", task).orderBy("due", "desc").limit(limit),
    ),

  async counts(database) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("tasks")
        .select(["state", (select) => select.fn.countAll<number>().as("count")])
        .where("state", "<>", "done")
        .groupBy("state")
        .execute(),
    );
    const of = (state: TaskState): number => rows.find((row) => row.state === state)?.count ?? 0;
    return { active: of("active"), paused: of("paused") };
  },
});
