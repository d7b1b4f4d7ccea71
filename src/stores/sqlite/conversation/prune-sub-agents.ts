import { sql, type Transaction } from "kysely";

import type { Tables } from "../schema/tables.ts";

/**
 * Tables with a session's data. Its approvals, jobs and steps are pruned separately, and until then the session stays.
 */
const tablesOfSession = ["conversation_prompts", "offered_tools", "work", "turns"] as const;

/**
 * Removes sub-agents of which nothing is left since then, the newest first, so that those below one go before it, each
 * with its session and all that is kept of that.
 */
export async function pruneSubAgents(transaction: Transaction<Tables>, before: number, limit: number): Promise<number> {
  const { rows } = await sql<{ readonly number: number; readonly session: string | null }>`
    select number, session from sub_agents
    where removed_at < ${before}
      and not exists (select 1 from turns where turns.id = sub_agents.turn and turns.state = 'running')
      and not exists (select 1 from sub_agents as below where below.parent = sub_agents.session)
      and not exists (select 1 from steps where steps.session = sub_agents.session)
      and not exists (select 1 from approvals where approvals.session = sub_agents.session)
      and not exists (select 1 from jobs where jobs.session = sub_agents.session)
    order by number desc limit ${limit}`.execute(transaction);
  await sql`delete from sub_agents where number in ${listed(rows.map(({ number }) => number))}`.execute(transaction);
  const sessions = listed(rows.flatMap(({ session }) => session ?? []));
  await sql`delete from execution_points where turn in (select id from turns where session in ${sessions})`.execute(
    transaction,
  );
  for (const table of tablesOfSession)
    await sql`delete from ${sql.table(table)} where session in ${sessions}`.execute(transaction);
  await sql`delete from sessions where id in ${sessions}`.execute(transaction);
  return rows.length;
}

/** Bound as one value, whatever their number. */
function listed(values: readonly unknown[]) {
  return sql`(select value from json_each(${JSON.stringify(values)}))`;
}
