import type { Approval, ApprovalAnswer, Decider, Grant } from "../../domain/approval.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/store.ts";
import type { ApprovalView, GrantView, Operations } from "../operations.ts";

export interface ApprovalReadingOptions {
  readonly store: { readonly approvals: Pick<Store["approvals"], "get" | "grants" | "list"> };
  readonly clock: Pick<Clock, "now">;
}

export interface ApprovalOperationOptions {
  readonly store: { readonly approvals: Pick<Store["approvals"], "revoke"> };
  readonly approvalDesk: {
    answer(answer: Omit<ApprovalAnswer, "at">, options?: { readonly values?: string | undefined }): Promise<Approval>;
  };
  readonly clock: Pick<Clock, "now">;
}

/** Who asks here sits at the host: there is no higher role. */
export const operator: Decider = { person: "operator", actor: "operator", name: "The operator", role: "owner" };

/** What is open, with `all` also what is not any more; then what was allowed for longer. */
export async function listApprovals(
  { store, clock }: ApprovalReadingOptions,
  { group, all }: Parameters<Operations["listApprovals"]>[0],
): Promise<(ApprovalView | GrantView)[]> {
  const approvals = await store.approvals.list({ group, state: all ? undefined : "open", limit: 1_000 });
  const grants = await store.approvals.grants({ group, now: clock.now() });
  return [...approvals.map(viewApproval), ...grants.map(viewGrant)];
}

export async function showApproval({ store }: ApprovalReadingOptions, code: string): Promise<ApprovalView> {
  const approval = await store.approvals.get(code.toUpperCase());
  if (approval) return viewApproval(approval);
  throw new AppError("not_found", `There is no approval "${code}".`, { fix: ownCommand("approvals list") });
}

export async function answerApproval(
  { approvalDesk }: ApprovalOperationOptions,
  code: string,
  answer: Parameters<Operations["answerApproval"]>[1],
): Promise<ApprovalView> {
  const { allow, scope = "once", reason, values } = answer;
  const given = { code: code.toUpperCase(), allow, scope, reason, by: operator };
  return viewApproval(await approvalDesk.answer(given, { values }));
}

export async function revokeApproval({ store, clock }: ApprovalOperationOptions, id: string): Promise<GrantView> {
  const grant = await store.approvals.revoke(id, clock.now());
  if (grant) return viewGrant(grant);
  throw new AppError("not_found", `Nothing that was allowed has the id "${id}".`, {
    fix: ownCommand("approvals list"),
  });
}

export function viewApproval(approval: Approval): ApprovalView {
  const { code, group, turn, session, call, tool, input, sha256, rule, risk, asker, approvers, quorum } = approval;
  return {
    code,
    ...(approval.about && { about: approval.about }),
    group,
    turn,
    session,
    call,
    tool,
    input: JSON.parse(input) as unknown,
    sha256,
    reason: rule,
    risk,
    asker: asker.id,
    approvers,
    quorum,
    votes: approval.votes,
    askedAt: approval.askedAt,
    expiresAt: approval.expiresAt,
    state: approval.state,
    scope: approval.scope,
    decidedAt: approval.decidedAt,
    decidedBy: approval.decider?.actor,
    answer: approval.reason,
    usedAt: approval.state === "allowed" ? approval.releasedAt : undefined,
    ...(approval.change && { diff: approval.change.diff, outcome: approval.outcome }),
  };
}

function viewGrant({ id, code, group, tool, input, sha256, scope, by, at, expiresAt, revokedAt }: Grant): GrantView {
  const state = revokedAt === undefined ? "allowed" : "revoked";
  const value = JSON.parse(input) as unknown;
  return { id, code, group, tool, input: value, sha256, scope, decidedBy: by, decidedAt: at, expiresAt, state };
}
