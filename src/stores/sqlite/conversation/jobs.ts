import { sql } from "kysely";

import type { Job } from "../../../domain/work/job.ts";
import type { JobStore } from "../../contract/job-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { toLineage, toLineageColumns } from "../schema/lineage-columns.ts";
import type { Row } from "../schema/tables.ts";
import { insertWork } from "./work.ts";

// A literal, so that SQLite sees that the partial index applies.
const isRunning = sql<boolean>`jobs.state = 'running'`;

export const sqliteJobs = onDatabase<JobStore>({
  begin: (database, job) =>
    database.write(async (transaction) => {
      const { conversation } = await transaction
        .selectFrom("sessions")
        .select("conversation")
        .where("id", "=", job.session)
        .executeTakeFirstOrThrow();
      const row = await transaction
        .insertInto("jobs")
        .values({
          session: job.session,
          id: job.id,
          group_name: job.group,
          generation: job.generation,
          conversation,
          turn: job.turn,
          command: job.command,
          state: "running",
          started_at: job.startedAt,
          ...toLineageColumns(job.lineage),
        })
        .onConflict((conflict) => conflict.columns(["session", "id"]).doNothing())
        .returning("id")
        .executeTakeFirst();
      return row !== undefined;
    }),

  end: (database, { session, id }, { state, at, exitCode, reason }, work) =>
    database.write(async (transaction) => {
      const row = await transaction
        .updateTable("jobs")
        .set({ state, ended_at: at, exit_code: exitCode ?? null, reason: reason ?? null })
        .where("session", "=", session)
        .where("id", "=", id)
        .where(isRunning)
        .returningAll()
        .executeTakeFirst();
      if (!row) return undefined;
      const job = toJob(row);
      if (!work) return { job, addedWork: false };
      const now = await transaction
        .selectFrom("sessions")
        .select(["conversation", "archived_at"])
        .where("id", "=", session)
        .executeTakeFirstOrThrow();
      if (now.conversation !== row.conversation || now.archived_at !== null) return { job, addedWork: false };
      const { duplicate } = await insertWork(transaction, work, at);
      return { job, addedWork: !duplicate };
    }),

  running: (database, session) =>
    database.list(toJob, (kysely) => {
      const all = kysely.selectFrom("jobs").selectAll().where(isRunning).orderBy("started_at");
      return session === undefined ? all : all.where("session", "=", session);
    }),

  list: (database, { group, all, limit }) =>
    database.list(toJob, (kysely) => {
      let newest = kysely.selectFrom("jobs").selectAll().orderBy("started_at", "desc").orderBy("id").limit(limit);
      if (group !== undefined) newest = newest.where("group_name", "=", group);
      if (!all) newest = newest.where(isRunning);
      return newest;
    }),

  prune: (database, before, limit) =>
    database.writeSoon(async (transaction) => {
      const { numAffectedRows = 0n } = await sql`
        delete from jobs where (session, id) in
          (select session, id from jobs where ended_at < ${before} limit ${limit})`.execute(transaction);
      return Number(numAffectedRows);
    }),
});

function toJob(row: Row<"jobs">): Job {
  return {
    id: row.id,
    group: row.group_name,
    session: row.session,
    generation: row.generation,
    turn: row.turn,
    command: row.command,
    startedAt: row.started_at,
    lineage: toLineage(row),
    state: row.state,
    endedAt: row.ended_at ?? undefined,
    exitCode: row.exit_code ?? undefined,
    reason: row.reason ?? undefined,
  };
}
