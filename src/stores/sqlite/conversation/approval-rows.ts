import { randomUUID } from "node:crypto";

import type { Transaction } from "kysely";

import {
  type Answered,
  type Approval,
  type ApprovalAnswer,
  approvalScopes,
  type CardReaction,
  type Grant,
  type NewApproval,
  widestScope,
} from "../../../domain/rights/approval.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { StandingAsk } from "../../contract/approval-store.ts";
import type { NewStep } from "../../contract/store.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { insertOutgoing } from "./outbox.ts";
import { answerReview, decidedBy, replaceReview } from "./review-rows.ts";
import { isOpen, selectApprovals, toApproval } from "./selected-approvals.ts";

const dayMs = 24 * 3_600_000;

/** Columns of the question. */
function columnsOf(approval: NewApproval) {
  return {
    code: approval.code,
    about: approval.about ?? ("call" as const),
    call_id: approval.call,
    tool: approval.tool,
    input: approval.input,
    sha256: approval.sha256,
    risk: approval.risk,
    rule: approval.rule,
    asker_id: approval.asker.id,
    asker_name: approval.asker.name,
    asker_role: approval.asker.role,
    approvers: approval.approvers,
    quorum: approval.quorum,
    asked_at: approval.askedAt,
    expires_at: approval.expiresAt,
    state: "open" as const,
    diff: approval.change?.diff ?? null,
    base: approval.change?.base ?? null,
    origins: approval.origins === undefined ? null : JSON.stringify(approval.origins),
    directory: approval.directory ?? null,
    scripts: approval.scripts === undefined ? null : JSON.stringify(approval.scripts),
    widest: approval.widest ?? null,
  };
}

/** Like `ApprovalStore.ask`, within the caller's transaction. */
export async function insertStanding(
  transaction: Transaction<Tables>,
  asked: StandingAsk,
): Promise<"asked" | "known" | "too-many"> {
  const { group, approval, card, outgoing = [], allowedBy, isSilent = false } = asked;
  const { askedAt } = approval;
  if (!(await replaceOlder(transaction, asked))) return "known";
  if (await isTooMuch(transaction, asked)) return "too-many";
  const { channel = "", chat = "" } = card ?? {};
  const seq = card && !isSilent ? (await insertOutgoing(transaction, card, askedAt)).seq : 0;
  const decided = allowedBy && { ...decidedBy(allowedBy, askedAt), state: "allowed" as const, scope: "once" as const };
  await transaction
    .insertInto("approvals")
    .values({ ...columnsOf(approval), ...decided, group_name: group, channel, chat, position: 0, card: seq })
    .execute();
  for (const draft of outgoing) await insertOutgoing(transaction, draft, askedAt);
  return "asked";
}

/** False: exactly this was asked before. */
async function replaceOlder(transaction: Transaction<Tables>, asked: StandingAsk): Promise<boolean> {
  const { about } = asked.approval;
  if (about === "review") return replaceReview(transaction, asked);
  return about !== "description" || replaceDescription(transaction, asked.approval);
}

/** Cancels what is open about the same tool. False: exactly this was asked before. */
async function replaceDescription(
  transaction: Transaction<Tables>,
  { tool, sha256, askedAt }: NewApproval,
): Promise<boolean> {
  const like = transaction
    .selectFrom("approvals")
    .select("code")
    .where("about", "=", "description")
    .where("tool", "=", tool);
  if (await like.where("sha256", "=", sha256).executeTakeFirst()) return false;
  await transaction
    .updateTable("approvals")
    .set({ state: "cancelled", decided_at: askedAt })
    .where("about", "=", "description")
    .where("tool", "=", tool)
    .where(isOpen)
    .execute();
  return true;
}

/** True when the asker has asked as often as the limit allows. */
async function isTooMuch(
  transaction: Transaction<Tables>,
  { group, approval: { about, asker }, limit }: StandingAsk,
): Promise<boolean> {
  if (!limit) return false;
  const { count } = await transaction
    .selectFrom("approvals")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("about", "=", about)
    .where("asker_id", "=", asker.id)
    .where("group_name", "=", group)
    .where("asked_at", ">", limit.since)
    .executeTakeFirstOrThrow();
  return count >= limit.most;
}

/** Like `ApprovalStore.cancel`, within the caller's transaction. */
export async function cancelApproval(transaction: Transaction<Tables>, code: string, at: number): Promise<boolean> {
  const cancelled = await transaction
    .updateTable("approvals")
    .set({ state: "cancelled", decided_at: at })
    .where("code", "=", code)
    .where(isOpen)
    .returning("code")
    .executeTakeFirst();
  return cancelled !== undefined;
}

/** Opens them with the step whose calls they are about, and writes what asks. */
export async function insertApprovals(
  transaction: Transaction<Tables>,
  {
    turn,
    step,
    asks,
  }: { readonly turn: Row<"turns">; readonly step: number; readonly asks: NonNullable<NewStep["asks"]> },
): Promise<void> {
  if (asks.length > 0) await transaction.updateTable("turns").set({ asked: 1 }).where("id", "=", turn.id).execute();
  for (const [position, { approval, card }] of asks.entries()) {
    const { seq } = await insertOutgoing(transaction, card, approval.askedAt);
    await transaction
      .insertInto("approvals")
      .values({
        ...columnsOf(approval),
        group_name: turn.group_name,
        channel: card.channel,
        chat: card.chat,
        session: turn.session,
        conversation: turn.conversation,
        turn: turn.id,
        step,
        position,
        card: seq,
      })
      .execute();
  }
}

/** Cancels open approvals of an ending turn. */
export async function cancelApprovals(transaction: Transaction<Tables>, turn: string, at: number): Promise<void> {
  await transaction
    .updateTable("approvals")
    .set({ state: "cancelled", decided_at: at })
    .where("turn", "=", turn)
    .where(isOpen)
    .execute();
}

/** True when the turn asked people and has not continued since. */
export async function hasUnreleased(transaction: Transaction<Tables>, turn: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("approvals")
    .select("code")
    .where("turn", "=", turn)
    .where("released_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Like `ApprovalStore.decide`, within the caller's transaction. */
export async function answerApproval(transaction: Transaction<Tables>, answer: ApprovalAnswer): Promise<Answered> {
  const found = await approvalOf(transaction, answer.code);
  if (answer.reaction !== undefined) await noteReaction(transaction, answer, answer.reaction);
  if (found.state === "open" && answer.at >= found.expiresAt) await expireApproval(transaction, found, answer.at);
  if (found.state !== "open" || answer.at >= found.expiresAt) {
    return { outcome: "settled", approval: await approvalOf(transaction, answer.code) };
  }
  if (found.about === "review") return answerReview(transaction, found, answer);
  if (!answer.allow) {
    await settle(transaction, found, { answer, state: "denied" });
    return { outcome: "denied", approval: await approvalOf(transaction, answer.code) };
  }
  const given = { ...answer, scope: narrowest([answer.scope, widestScope(found)]) };
  const { scope, isEnough, isNew } = await vote(transaction, found, given);
  if (!isEnough) return { outcome: "counted", again: !isNew, approval: await approvalOf(transaction, answer.code) };
  await settle(transaction, found, { answer, state: "allowed", scope });
  if (scope !== "once") await insertGrant(transaction, found, { answer, scope });
  return { outcome: "allowed", approval: await approvalOf(transaction, answer.code) };
}

/** Counts people, not answers. The scope is the narrowest that one of them has given. */
async function vote(
  transaction: Transaction<Tables>,
  { code, quorum }: Approval,
  { by, scope, at }: ApprovalAnswer,
): Promise<{ readonly scope: ApprovalAnswer["scope"]; readonly isEnough: boolean; readonly isNew: boolean }> {
  const before = await transaction
    .selectFrom("approval_votes")
    .select(["scope", "person"])
    .where("code", "=", code)
    .execute();
  const isNew = !before.some(({ person }) => person === by.person || by.alsoAs?.includes(person));
  if (isNew) await transaction.insertInto("approval_votes").values({ code, person: by.person, scope, at }).execute();
  const all = isNew ? [...before, { scope }] : before;
  return { scope: narrowest(all.map((each) => each.scope)), isEnough: all.length >= quorum, isNew };
}

function narrowest(scopes: readonly string[]): ApprovalAnswer["scope"] {
  return approvalScopes.find((one) => scopes.includes(one)) ?? "once";
}

async function noteReaction(
  transaction: Transaction<Tables>,
  { code, by: { person }, at }: ApprovalAnswer,
  id: string,
): Promise<void> {
  await transaction
    .insertInto("card_reactions")
    .values({ code, person, id, refused: 0, at })
    .onConflict((conflict) => conflict.columns(["code", "person"]).doUpdateSet({ id, refused: 0, at }))
    .execute();
}

/** Like `ApprovalStore.refuseReaction`, within the caller's transaction; returns whether to reply. */
export async function insertRefusedReaction(
  transaction: Transaction<Tables>,
  { code, person, id }: Omit<CardReaction, "refused">,
  { at, most }: { readonly at: number; readonly most: number },
): Promise<boolean> {
  const inserted = await transaction
    .insertInto("card_reactions")
    .values({ code, person, id, refused: 1, at })
    .onConflict((conflict) => conflict.doNothing())
    .returning("code")
    .executeTakeFirst();
  const { count } = await transaction
    .selectFrom("card_reactions")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("code", "=", code)
    .where("refused", "=", 1)
    .executeTakeFirstOrThrow();
  return inserted !== undefined && count <= most;
}

async function settle(
  transaction: Transaction<Tables>,
  { code, turn }: Approval,
  settled: {
    readonly answer: ApprovalAnswer;
    readonly state: "allowed" | "denied";
    readonly scope?: ApprovalAnswer["scope"];
  },
): Promise<void> {
  const { answer, state, scope = null } = settled;
  await transaction
    .updateTable("approvals")
    .set({
      state,
      scope,
      decided_at: answer.at,
      decider_actor: answer.by.actor,
      decider_name: answer.by.name,
      decider_role: answer.by.role,
      reason: answer.reason ?? null,
    })
    .where("code", "=", code)
    .execute();
  await letGoOn(transaction, turn);
}

export async function expireApproval(
  transaction: Transaction<Tables>,
  { code, turn }: Approval,
  at: number,
): Promise<void> {
  await transaction
    .updateTable("approvals")
    .set({ state: "expired", decided_at: at })
    .where("code", "=", code)
    .where(isOpen)
    .execute();
  await letGoOn(transaction, turn);
}

/** People have looked at the turn: what it is tried in from now on counts anew. */
async function letGoOn(transaction: Transaction<Tables>, turn: string | undefined): Promise<void> {
  if (turn === undefined) return;
  await transaction
    .updateTable("turns")
    .set({ attempts: 0 })
    .where("id", "=", turn)
    .where("state", "=", "running")
    .where((where) =>
      where.not(
        where.exists(
          where.selectFrom("approvals").select("approvals.code").where("approvals.turn", "=", turn).where(isOpen),
        ),
      ),
    )
    .execute();
}

async function insertGrant(
  transaction: Transaction<Tables>,
  approval: Approval,
  { answer, scope }: { readonly answer: ApprovalAnswer; readonly scope: Grant["scope"] },
): Promise<void> {
  const { session, conversation } = approval;
  if (session === undefined || conversation === undefined) return;
  await transaction
    .insertInto("grants")
    .values({
      id: randomUUID(),
      code: approval.code,
      group_name: approval.group,
      session,
      conversation,
      tool: approval.tool,
      input: approval.input,
      sha256: approval.sha256,
      rule: approval.rule,
      role: approval.asker.role,
      approvers: approval.approvers,
      quorum: approval.quorum,
      origins: JSON.stringify(approval.origins ?? []),
      directory: approval.directory ?? null,
      scripts: JSON.stringify(approval.scripts ?? []),
      scope,
      given_by: answer.by.actor,
      at: answer.at,
      expires_at: scope === "day" ? answer.at + dayMs : null,
      revoked_at: null,
    })
    .execute();
}

async function approvalOf(transaction: Transaction<Tables>, code: string): Promise<Approval> {
  const row = await selectApprovals(transaction).where("code", "=", code).executeTakeFirst();
  if (!row) throw new AppError("not_found", `There is no approval "${code}".`);
  return toApproval(row);
}
