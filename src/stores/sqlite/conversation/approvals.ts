import { sql } from "kysely";

import { type Grant, isBoundTo } from "../../../domain/rights/approval.ts";
import { clockSlackMs } from "../../../lib/time/clock.ts";
import type { ApprovalStore } from "../../contract/approval-store.ts";
import { onDatabase } from "../database/on-database.ts";
import { parseOrigins, parseScripts } from "../schema/json-columns.ts";
import type { Row } from "../schema/tables.ts";
import {
  answerApproval,
  cancelApproval,
  expireApproval,
  insertRefusedReaction,
  insertStanding,
} from "./approval-rows.ts";
import { isOpen, selectApprovals, toApproval } from "./selected-approvals.ts";
import { insertOutgoing } from "./outbox.ts";
import { runningTurn } from "./turns.ts";

// A literal, so that the partial index applies.
const isUndone = sql<boolean>`approvals.about = 'review' and approvals.state in ('allowed', 'denied')
  and (approvals.outcome is null or approvals.outcome in ('waiting', 'writing'))`;
const isUnrecorded = sql<boolean>`approvals.recorded = 0`;

export const sqliteApprovals = onDatabase<ApprovalStore>({
  get: (database, code) => database.first(toApproval, (kysely) => selectApprovals(kysely).where("code", "=", code)),

  ofTurn: (database, turn) =>
    database.list(toApproval, (kysely) =>
      selectApprovals(kysely).where("turn", "=", turn).orderBy("step").orderBy("position"),
    ),

  ofStep: (database, step) =>
    database.list(toApproval, (kysely) => selectApprovals(kysely).where("step", "=", step).orderBy("position")),

  ofCard: (database, outboxSeq) =>
    database.first(toApproval, (kysely) => selectApprovals(kysely).where("card", "=", outboxSeq)),

  list: (database, { group, state, about, limit }) =>
    database.list(toApproval, (kysely) => {
      let newest = selectApprovals(kysely).orderBy("card", "desc").limit(limit);
      if (group !== undefined) newest = newest.where("group_name", "=", group);
      if (about !== undefined) newest = newest.where("about", "=", about);
      if (state !== undefined) newest = newest.where("state", "=", state);
      return newest;
    }),

  open: (database) => database.list(toApproval, (kysely) => selectApprovals(kysely).where(isOpen).orderBy("card")),

  openCards: (database, channel, limit) =>
    database.list(
      ({ card }: Pick<Row<"approvals">, "card">) => card,
      (kysely) =>
        kysely
          .selectFrom("approvals")
          .select("card")
          .where(isOpen)
          .where("channel", "=", channel)
          .orderBy("asked_at", "desc")
          .orderBy("card", "desc")
          .limit(limit),
    ),

  async openCount(database) {
    const { count } = await database.read((kysely) =>
      kysely
        .selectFrom("approvals")
        .select((select) => select.fn.countAll<number>().as("count"))
        .where(isOpen)
        .executeTakeFirstOrThrow(),
    );
    return count;
  },

  ask: (database, asked) => database.write((transaction) => insertStanding(transaction, asked)),

  cancel: (database, code, at, outgoing) =>
    database.write(async (transaction) => {
      if (!(await cancelApproval(transaction, code, at))) return false;
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),

  decide: (database, answer, tell) =>
    database.write(async (transaction) => {
      const answered = await answerApproval(transaction, answer);
      for (const draft of tell(answered)) await insertOutgoing(transaction, draft, answer.at);
      return answered;
    }),

  async reactionOf(database, code, person) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("card_reactions")
        .select(["id", "refused"])
        .where("code", "=", code)
        .where("person", "=", person)
        .executeTakeFirst(),
    );
    return row && { code, person, id: row.id, refused: row.refused === 1 };
  },

  refuseReaction: (database, reaction, { at, most, outgoing }) =>
    database.write(async (transaction) => {
      if (!(await insertRefusedReaction(transaction, reaction, { at, most }))) return false;
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),

  expire: (database, code, at, outgoing) =>
    database.write(async (transaction) => {
      const row = await selectApprovals(transaction).where("code", "=", code).where(isOpen).executeTakeFirst();
      if (!row) return false;
      await expireApproval(transaction, toApproval(row), at);
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),

  release: (database, step, at, lease) =>
    database.write(async (transaction) => {
      const rows = await selectApprovals(transaction).where("step", "=", step).orderBy("position").execute();
      const [first] = rows;
      if (!first || first.turn === null) return undefined;
      await runningTurn(transaction, first.turn, lease);
      if (rows.some(({ state, released_at }) => state === "open" || released_at !== null)) return undefined;
      await transaction.updateTable("approvals").set({ released_at: at }).where("step", "=", step).execute();
      return rows.map((row) => toApproval({ ...row, released_at: at }));
    }),

  tellWaiting: (database, turn, outgoing, at) =>
    database.write(async (transaction) => {
      const told = await transaction
        .updateTable("approvals")
        .set({ told: 1 })
        .where("turn", "=", turn)
        .where("told", "=", 0)
        .where(isOpen)
        .returning("code")
        .execute();
      if (told.length === 0) return false;
      for (const draft of outgoing) await insertOutgoing(transaction, draft, at);
      return true;
    }),

  async endReview(database, code, { outcome, kept, said, at }) {
    await database.write(async (transaction) => {
      const ended = { outcome, kept: JSON.stringify(kept) };
      await transaction.updateTable("approvals").set(ended).where("code", "=", code).execute();
      for (const draft of said) await insertOutgoing(transaction, draft, at);
    });
  },

  async noteOutcome(database, code, outcome, said, at) {
    await database.write(async (transaction) => {
      await transaction.updateTable("approvals").set({ outcome }).where("code", "=", code).execute();
      for (const draft of said) await insertOutgoing(transaction, draft, at);
    });
  },

  undone: (database) =>
    database.list(toApproval, (kysely) => selectApprovals(kysely).where(isUndone).orderBy("asked_at")),

  carriedOut: (database, group, { after, limit }) =>
    database.list(toApproval, (kysely) =>
      selectApprovals(kysely)
        .where("about", "=", "review")
        .where("group_name", "=", group)
        .where("outcome", "in", ["written", "changed", "failed"])
        .where("decided_at", ">", after)
        .orderBy("decided_at", "desc")
        .limit(limit),
    ),

  unrecorded: (database) =>
    database.list(toApproval, (kysely) =>
      selectApprovals(kysely).where(isUnrecorded).where("state", "<>", "open").orderBy("card"),
    ),

  async recorded(database, code) {
    await database.write((transaction) =>
      transaction.updateTable("approvals").set({ recorded: 1 }).where("code", "=", code).execute(),
    );
  },

  async grantFor(database, call) {
    const { group, session, conversation, tool, sha256, now } = call;
    const rows = await database.read((kysely) =>
      kysely
        .selectFrom("grants")
        .selectAll()
        .where("group_name", "=", group)
        .where("sha256", "=", sha256)
        .where("tool", "=", tool)
        .where(sql<boolean>`revoked_at is null`)
        .orderBy("at")
        .execute(),
    );
    const inTime = rows.filter((row) => counts(row, now)).map(toGrant);
    return inTime.find(
      (grant) =>
        isBoundTo(grant, call) &&
        (grant.scope !== "session" || (grant.session === session && grant.conversation === conversation)),
    );
  },

  async grants(database, { group, now }) {
    const rows = await database.read((kysely) => {
      const newest = kysely
        .selectFrom("grants")
        .selectAll()
        .where(sql<boolean>`revoked_at is null`)
        .where((where) =>
          where.or([
            where("scope", "<>", "session"),
            where.exists(
              where
                .selectFrom("sessions")
                .select("sessions.id")
                .whereRef("sessions.id", "=", "grants.session")
                .whereRef("sessions.conversation", "=", "grants.conversation"),
            ),
          ]),
        )
        .orderBy("at", "desc");
      return (group === undefined ? newest : newest.where("group_name", "=", group)).execute();
    });
    return rows.filter((row) => counts(row, now)).map(toGrant);
  },

  async revoke(database, id, at) {
    const row = await database.write((transaction) =>
      transaction
        .updateTable("grants")
        .set({ revoked_at: at })
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .returningAll()
        .executeTakeFirst(),
    );
    return row && toGrant(row);
  },
});

function counts({ at, expires_at }: Row<"grants">, now: number): boolean {
  return expires_at === null || (now < expires_at && at <= now + clockSlackMs);
}

function toGrant(row: Row<"grants">): Grant {
  const { group_name: group, given_by: by, expires_at, revoked_at, origins, directory, scripts, ...rest } = row;
  return {
    ...rest,
    group,
    by,
    origins: parseOrigins(origins),
    directory: directory ?? undefined,
    scripts: parseScripts(scripts),
    expiresAt: expires_at ?? undefined,
    revokedAt: revoked_at ?? undefined,
  };
}
