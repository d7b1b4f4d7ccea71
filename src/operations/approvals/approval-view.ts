import * as z from "zod";

import {
  type Approval,
  approvalScopes,
  approvalStates,
  changeOutcomes,
  type Decider,
  type Grant,
  standingQuestions,
} from "../../domain/rights/approval.ts";
import { time } from "../definition/schemas.ts";

/** The operator at the host: no role is higher. */
export const operator: Decider = { person: "operator", actor: "operator", name: "The operator", role: "owner" };

/** A call that people are or were asked about. */
export const approvalView = z.strictObject({
  code: z.string(),
  group: z.string(),
  about: z.enum(standingQuestions).optional().describe("What it is about; absent: a call of a turn"),
  turn: z.string().optional(),
  session: z.string().optional().describe("The one whose agent asks"),
  call: z.string(),
  tool: z.string(),
  input: z.unknown().describe("All of it"),
  sha256: z.string().describe("Of the input as canonical JSON"),
  reason: z.string().describe("The rule that asks"),
  risk: z.string(),
  asker: z.string().describe("`<channel>:<sender id>`, or `operator`"),
  approvers: z.string(),
  quorum: z.number(),
  votes: z.number(),
  askedAt: time,
  expiresAt: time,
  state: z.enum(approvalStates),
  scope: z.enum(approvalScopes).optional(),
  decidedAt: time.optional(),
  decidedBy: z.string().optional(),
  answer: z.string().optional().describe("The reason that was given for a denial"),
  usedAt: time.optional(),
  diff: z.string().optional().describe("Of a call that proposes to change a file of the operator's: the whole change"),
  outcome: z.enum(changeOutcomes).optional().describe("The result of such a change, once it was allowed"),
});

export type ApprovalView = z.infer<typeof approvalView>;

/** Calls that need not be asked again. */
export const grantView = z.strictObject({
  id: z.string(),
  code: z.string().describe("Of the approval that it comes from"),
  group: z.string(),
  tool: z.string(),
  input: z.unknown(),
  sha256: z.string(),
  scope: z.enum(approvalScopes),
  decidedBy: z.string(),
  decidedAt: time,
  expiresAt: time.optional(),
  state: z.enum(["allowed", "revoked"]),
});

export type GrantView = z.infer<typeof grantView>;

/** An approval as the operator sees it. */
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

/** A standing permission as the operator sees it. */
export function viewGrant({
  id,
  code,
  group,
  tool,
  input,
  sha256,
  scope,
  by,
  at,
  expiresAt,
  revokedAt,
}: Grant): GrantView {
  const state = revokedAt === undefined ? "allowed" : "revoked";
  const value = JSON.parse(input) as unknown;
  return { id, code, group, tool, input: value, sha256, scope, decidedBy: by, decidedAt: at, expiresAt, state };
}
