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

const script = z.strictObject({ path: z.string(), sha256: z.string().optional() });

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
  origins: z.array(z.string()).optional().describe("What its turn had read"),
  directory: z.string().optional().describe("Folder that the command runs in"),
  scripts: z.array(script).optional().describe("Files that the command runs, as they were when people were asked"),
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
  reason: z.string().describe("The rule that asked: another one asks again"),
  role: z.string().describe("Role that it was asked for: calls of lower roles are asked"),
  approvers: z.string().describe("Least role that has answered: a stricter rule asks again"),
  quorum: z.number().describe("Number of people who have allowed it"),
  origins: z.array(z.string()).describe("What the turn had read: a turn that has read something else is asked"),
  directory: z.string().optional().describe("Folder of the command, if it is not the one that shells start in"),
  scripts: z.array(script).describe("Files that the command runs: others are asked about"),
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
    ...(approval.origins && { origins: [...approval.origins] }),
    directory: approval.directory,
    ...(approval.scripts && { scripts: [...approval.scripts] }),
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
export function viewGrant({ by, at, rule, input, origins, scripts, revokedAt, ...grant }: Grant): GrantView {
  const { id, code, group, tool, sha256, scope, role, approvers, quorum, directory, expiresAt } = grant;
  return {
    id,
    code,
    group,
    tool,
    input: JSON.parse(input) as unknown,
    sha256,
    scope,
    reason: rule,
    role,
    approvers,
    quorum,
    origins: [...origins],
    directory,
    scripts: [...scripts],
    decidedBy: by,
    decidedAt: at,
    expiresAt,
    state: revokedAt === undefined ? "allowed" : "revoked",
  };
}
