import { sql, type Transaction } from "kysely";

import { withOrigins } from "../../../domain/rights/lineage.ts";
import { subAgentId, subAgentNumber } from "../../../domain/work/sub-agent.ts";
import type { SubAgentStore } from "../../contract/sub-agent-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseOrigins, parseReplyTarget } from "../schema/json-columns.ts";
import { toLineage } from "../schema/lineage-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { leaveInFolder } from "./origins.ts";
import { insertOutgoing } from "./outbox.ts";
import { pruneSubAgents } from "./prune-sub-agents.ts";
import { renewSession } from "./sessions.ts";
import { hasNotEnded, insertSubAgents, isLive, setEnded, toSubAgent, wantedSkills } from "./sub-agent-rows.ts";
import { finishTurn, isRunning, runningTurn, toTurn } from "./turns.ts";
import { dropWorkOf, insertWork } from "./work.ts";

type Delivery = Parameters<SubAgentStore["deliver"]>[1];

export const sqliteSubAgents = onDatabase<SubAgentStore>({
  nextNumber: (database) =>
    database.write(async (transaction) => {
      const { last } = await transaction
        .updateTable("sub_agent_numbers")
        .set({ last: sql<number>`last + 1` })
        .returning("last")
        .executeTakeFirstOrThrow();
      return last;
    }),

  begin: (database, step, spawns, lease) =>
    database.write(async (transaction) => {
      const { turn } = await transaction
        .selectFrom("steps")
        .select("turn")
        .where("seq", "=", step)
        .executeTakeFirstOrThrow();
      await insertSubAgents(transaction, { turn: await runningTurn(transaction, turn, lease), step, spawns });
    }),

  async get(database, id) {
    const number = subAgentNumber(id);
    if (number === undefined) return undefined;
    const row = await database.read((kysely) =>
      kysely.selectFrom("sub_agents").selectAll().where("number", "=", number).executeTakeFirst(),
    );
    return row && toSubAgent(row);
  },

  ofSession: (database, session) =>
    database.first(toSubAgent, (kysely) =>
      kysely.selectFrom("sub_agents").selectAll().select(wantedSkills.as("skills")).where("session", "=", session),
    ),

  ofStep: (database, step) =>
    database.list(toSubAgent, (kysely) =>
      kysely.selectFrom("sub_agents").selectAll().where("step", "=", step).orderBy("position"),
    ),

  awaitedBy: (database, turn) =>
    database.list(toSubAgent, (kysely) =>
      kysely
        .selectFrom("sub_agents")
        .selectAll()
        .where("turn", "=", turn)
        .where("background", "=", 0)
        .where("delivered_at", "is", null)
        .orderBy("number"),
    ),

  list: (database, { group, parent, running: isRunningOnly, limit }) =>
    database.list(toSubAgent, (kysely) => {
      let newest = kysely.selectFrom("sub_agents").selectAll().orderBy("number", "desc").limit(limit);
      if (group !== undefined) newest = newest.where("group_name", "=", group);
      if (parent !== undefined) newest = newest.where("parent", "=", parent);
      if (isRunningOnly === true) newest = newest.where(hasNotEnded);
      return newest;
    }),

  async live(database) {
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("sub_agents")
        .innerJoin("sessions", "sessions.id", "sub_agents.parent")
        .innerJoin("turns", "turns.id", "sub_agents.turn")
        .selectAll("sub_agents")
        .select([
          "sessions.key as parent_key",
          "turns.state as turn_state",
          sql<number>`sessions.conversation <> sub_agents.conversation or sessions.archived_at is not null`.as(
            "is_forgotten",
          ),
          sql<number>`exists (select 1 from turns as own where own.session = sub_agents.session and own.state = 'running')
            or exists (select 1 from work where work.session = sub_agents.session and work.state = 'due')`.as(
            "has_work",
          ),
        ])
        .where(isLive)
        .orderBy("sub_agents.number")
        .execute(),
    );
    return rows.map((row) => ({
      ...toSubAgent(row),
      parentKey: row.parent_key,
      turnState: row.turn_state,
      isForgotten: row.is_forgotten === 1,
      hasWork: row.has_work === 1,
    }));
  },

  end: (database, id, end) =>
    database.write(async (transaction) => {
      const row = await running(transaction, id);
      if (!row || row.session === null) return undefined;
      const turn = await transaction
        .selectFrom("turns")
        .selectAll()
        .where("session", "=", row.session)
        .where(isRunning)
        .executeTakeFirst();
      const { state, reason, at } = end;
      await dropWorkOf(transaction, row.session, reason);
      await setEnded(transaction, row, { state, text: reason, at, turn });
      if (!turn) return [];
      const text = `<host-note>The turn ended without an answer.</host-note>`;
      const step = { body: { kind: "user", text } as const, tokens: end.estimateTokens(text), at };
      await finishTurn(transaction, turn.id, { state: "cancelled", reason, at, steps: [step], outgoing: [] });
      return [toTurn({ ...turn, state: "cancelled", ended_at: at, reason })];
    }),

  deliver: (database, id, result) =>
    database.write(async (transaction) => {
      const { files, at } = result;
      const number = subAgentNumber(id) ?? 0;
      const row = await transaction
        .updateTable("sub_agents")
        .set({ delivered_at: at, files: JSON.stringify(files) })
        .where("number", "=", number)
        .where("delivered_at", "is", null)
        .where("state", "<>", "running")
        .returningAll()
        .executeTakeFirst();
      if (!row) return false;
      if (files.length > 0) {
        const origins = [...parseOrigins(row.origins), "agent" as const];
        await leaveInFolder(transaction, { group: row.group_name, origins, at, turn: null });
      }
      if (row.background === 1) await tellParent(transaction, row, result);
      else await letGoOn(transaction, row.turn);
      return true;
    }),

  release: (database, step, at, lease) =>
    database.write(async (transaction) => {
      const rows = await transaction.selectFrom("sub_agents").selectAll().where("step", "=", step).execute();
      const [first] = rows;
      if (!first) return false;
      await runningTurn(transaction, first.turn, lease);
      if (rows.some(({ released_at }) => released_at !== null)) return false;
      await transaction.updateTable("sub_agents").set({ released_at: at }).where("step", "=", step).execute();
      return true;
    }),

  tellWaiting: (database, turn, outgoing, at) =>
    database.write(async (transaction) => {
      const told = await transaction
        .updateTable("sub_agents")
        .set({ told: 1 })
        .where("turn", "=", turn)
        .where("told", "=", 0)
        .where("delivered_at", "is", null)
        .returning("number")
        .execute();
      if (told.length === 0) return false;
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),

  prune: (database, before, limit) => database.writeSoon((transaction) => pruneSubAgents(transaction, before, limit)),

  /** Its conversation is over, too: so its steps get old like those of any other. */
  removed: (database, id, at) =>
    database.write(async (transaction) => {
      const row = await transaction
        .updateTable("sub_agents")
        .set({ removed_at: at })
        .where("number", "=", subAgentNumber(id) ?? 0)
        .where("removed_at", "is", null)
        .returning("session")
        .executeTakeFirst();
      if (!row?.session) return;
      await dropWorkOf(transaction, row.session, "its session was archived");
      await renewSession(transaction, row.session, 0);
      await transaction.updateTable("sessions").set({ archived_at: at }).where("id", "=", row.session).execute();
    }),
});

function running(transaction: Transaction<Tables>, id: string): Promise<Row<"sub_agents"> | undefined> {
  return transaction
    .selectFrom("sub_agents")
    .selectAll()
    .where("number", "=", subAgentNumber(id) ?? 0)
    .where("state", "=", "running")
    .executeTakeFirst();
}

/** Gives the result to the parent as work, unless it is obsolete or was cancelled. */
async function tellParent(
  transaction: Transaction<Tables>,
  row: Row<"sub_agents">,
  { text, at }: Delivery,
): Promise<void> {
  if (row.state === "cancelled") return;
  const parent = await transaction
    .selectFrom("sessions")
    .select(["archived_at", "conversation"])
    .where("id", "=", row.parent)
    .executeTakeFirstOrThrow();
  if (parent.archived_at !== null || parent.conversation !== row.conversation) return;
  const turn = await transaction
    .selectFrom("turns")
    .select("reply_to")
    .where("id", "=", row.turn)
    .executeTakeFirstOrThrow();
  const id = `agent:${subAgentId(row.number)}:result`;
  await insertWork(
    transaction,
    {
      id,
      group: row.group_name,
      session: row.parent,
      cause: "agent",
      dueAt: at,
      dedupe: id,
      replyTo: parseReplyTarget(turn.reply_to),
      origin: "agent",
      lineage: withOrigins(toLineage(row), ["agent"]),
      text,
    },
    at,
  );
}

/** Restarts the count of attempts for a resumed turn. */
async function letGoOn(transaction: Transaction<Tables>, turn: string): Promise<void> {
  await transaction
    .updateTable("turns")
    .set({ attempts: 0 })
    .where("id", "=", turn)
    .where("state", "=", "running")
    .execute();
}
