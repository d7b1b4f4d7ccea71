import { type Kysely, sql } from "kysely";

import type { Approval } from "../../../domain/rights/approval.ts";
import { parseKept, parseOrigins, parseScripts } from "../schema/json-columns.ts";
import type { Row, Tables } from "../schema/tables.ts";

// A literal, so that the partial index applies.
export const isOpen = sql<boolean>`approvals.state = 'open'`;
const votes = sql<number>`(select count(*) from approval_votes where approval_votes.code = approvals.code)`.as("votes");

/** Approvals with how many people have allowed each so far. */
export function selectApprovals(kysely: Kysely<Tables>) {
  return kysely.selectFrom("approvals").selectAll().select(votes);
}

function callPlace({ about, session, conversation, turn, step }: Row<"approvals">) {
  return {
    about: about === "call" ? undefined : about,
    session: session ?? undefined,
    conversation: conversation ?? undefined,
    turn: turn ?? undefined,
    step: step ?? undefined,
  };
}

function changeIn({ diff, base, outcome, kept }: Row<"approvals">) {
  return {
    change: diff === null || base === null ? undefined : { diff, base },
    outcome: outcome ?? undefined,
    ...(kept !== null && { kept: parseKept(kept) }),
  };
}

function circumstances({ origins, directory, scripts, widest }: Row<"approvals">) {
  return {
    origins: origins === null ? undefined : parseOrigins(origins),
    directory: directory ?? undefined,
    scripts: scripts === null ? undefined : parseScripts(scripts),
    widest: widest ?? undefined,
  };
}

/** Returns the approval of a row. */
export function toApproval(row: Row<"approvals"> & { readonly votes: number }): Approval {
  const { decider_actor: actor, decider_name: name, decider_role: role } = row;
  return {
    code: row.code,
    call: row.call_id,
    tool: row.tool,
    input: row.input,
    sha256: row.sha256,
    risk: row.risk,
    rule: row.rule,
    asker: { id: row.asker_id, name: row.asker_name, role: row.asker_role },
    approvers: row.approvers,
    quorum: row.quorum,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    group: row.group_name,
    channel: row.channel,
    chat: row.chat,
    ...callPlace(row),
    state: row.state,
    scope: row.scope ?? undefined,
    decidedAt: row.decided_at ?? undefined,
    decider: actor === null || name === null || role === null ? undefined : { actor, name, role },
    reason: row.reason ?? undefined,
    votes: row.votes,
    releasedAt: row.released_at ?? undefined,
    ...changeIn(row),
    ...circumstances(row),
  };
}
