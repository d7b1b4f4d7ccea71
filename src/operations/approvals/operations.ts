import * as z from "zod";

import { type Approval, type ApprovalAnswer, approvalScopes, type Decider } from "../../domain/rights/approval.ts";
import { AppError } from "../../lib/app-error.ts";
import { shorten } from "../../lib/text/visible.ts";
import { wholeInput } from "../../rights/approvals/card.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { flag, list, name, onlyGroup } from "../definition/schemas.ts";
import { type ApprovalView, approvalView, grantView, operator, viewApproval, viewGrant } from "./approval-view.ts";

/** The parts that look at approvals. */
export interface ApprovalReadingNeeds {
  readonly store: { readonly approvals: Pick<Store["approvals"], "get" | "grants" | "list"> };
  readonly clock: Pick<Clock, "now">;
}

/** The parts that answer and revoke them. */
export interface ApprovalNeeds {
  readonly store: { readonly approvals: Pick<Store["approvals"], "revoke"> };
  readonly approvalService: {
    answer(answer: Omit<ApprovalAnswer, "at">, options?: { readonly values?: string | undefined }): Promise<Approval>;
  };
  readonly clock: Pick<Clock, "now">;
}

const listed = 1_000;
/** Characters of an input in a table. */
const inputChars = 60;
const howToRevoke = `Use ${ownCommand("approvals list")} to find the id for revoking it.`;

export const listApprovals = defineOperation<ApprovalReadingNeeds>()({
  name: "approvals.list",
  summary: "list calls that wait for people's answers, and permissions that were given for longer",
  input: z.strictObject({ group: onlyGroup, all: flag.describe("include decided ones") }),
  output: list(z.union([approvalView, grantView])),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /approvals",
  listAs: "approvals",
  offline: true,
  cli: {
    table: [
      "code",
      { title: "id", of: (row) => ("id" in row ? row.id : undefined) },
      "group",
      "state",
      "scope",
      { title: "risk", of: (row) => ("risk" in row ? row.risk : undefined) },
      { title: "asker", of: (row) => ("asker" in row ? row.asker : `${row.role} or higher`) },
      { title: "read", of: ({ origins }) => origins?.join(" ") },
      "directory",
      { field: "expiresAt", title: "until (UTC)" },
      "tool",
      { title: "input", of: ({ input }) => shorten(wholeInput(JSON.stringify(input)), inputChars) },
    ],
    none: () => "No open approvals.",
  },
  run: async ({ store, clock }, { group, all }) => {
    const approvals = await store.approvals.list({ group, state: all ? undefined : "open", limit: listed });
    const grants = await store.approvals.grants({ group, now: clock.now() });
    return [...approvals.map(viewApproval), ...grants.map(viewGrant)];
  },
});

export const showApproval = defineOperation<ApprovalReadingNeeds>()({
  name: "approvals.show",
  summary: "show all of a call that people are asked about",
  input: z.strictObject({ code: name }),
  output: approvalView,
  may: { scope: "read" },
  effect: "none",
  rest: "GET /approvals/{code}",
  offline: true,
  cli: { args: ["code"] },
  run: async ({ store }, { code }) => {
    const approval = await store.approvals.get(code.toUpperCase());
    if (approval) return viewApproval(approval);
    throw new AppError("not_found", `There is no approval "${code}".`, { fix: ownCommand("approvals list") });
  },
});

/** Rejects with `conflict` where it was decided before, with `expired` where the time is over. */
export const answerApproval = defineOperation<ApprovalNeeds>()({
  name: "approvals.answer",
  summary: "allow or deny a call that waits",
  input: z.strictObject({
    code: name,
    decision: z.enum(["allow", "deny"]),
    scope: z.enum(approvalScopes).default("once").describe("scope for calls with the same input"),
    reason: z.string().max(400).optional().describe("why, for the agent and the chat"),
    values: z
      .union([z.string().max(16_000), z.record(z.string().max(256), z.unknown())])
      .transform((values) => (typeof values === "string" ? values : JSON.stringify(values)))
      .optional()
      .describe("what a form asks for: values by their names, or `name=value …`"),
  }),
  output: approvalView,
  may: { scope: "admin" },
  effect: "change",
  rest: "POST /approvals/{code}",
  record: ({ code, decision, scope }) => ({ code, decision, scope }),
  cli: [
    {
      command: "approvals allow",
      help: "allow a call once, exactly as shown",
      args: ["code"],
      sets: { decision: "allow" },
      without: ["reason", "values"],
      say: (approval, { scope }) =>
        [describeAllowed(approval), ...(scope === "always" ? [howToRevoke] : [])].join("\n"),
    },
    {
      command: "approvals deny",
      help: "deny a call; the agent is told",
      args: ["code"],
      sets: { decision: "deny" },
      without: ["scope", "values"],
      say: ({ code, tool }) => `${tool} does not run (${code}).`,
    },
    {
      help: "fill in a server's form: NAME=VALUE …, JSON, or the only value; --yes: a form without values, or its defaults",
      args: ["code", "values"],
      rest: "values",
      sets: { decision: "allow" },
      without: ["reason", "scope"],
      yes: { values: "" },
      say: ({ code, tool }) => `${tool} continues (${code}).`,
    },
  ],
  run: async ({ approvalService }, { code, decision, scope, reason, values }, { actor }) => {
    const by: Decider = { ...operator, actor };
    const answer = { code: code.toUpperCase(), allow: decision === "allow", scope, reason, by };
    return viewApproval(await approvalService.answer(answer, { values }));
  },
});

export const revokeApproval = defineOperation<ApprovalNeeds>()({
  name: "approvals.revoke",
  summary: "revoke a permission that was given for longer; calls that have begun go on",
  input: z.strictObject({ id: name }),
  output: grantView,
  may: { scope: "admin" },
  effect: "change",
  cli: {
    args: ["id"],
    say: ({ tool, group }) => `People are asked again about this call of ${tool} in group ${group}.`,
  },
  run: async ({ store, clock }, { id }) => {
    const grant = await store.approvals.revoke(id, clock.now());
    if (grant) return viewGrant(grant);
    throw new AppError("not_found", `Nothing that was allowed has the id "${id}".`, {
      fix: ownCommand("approvals list"),
    });
  },
});

function describeAllowed({ code, tool, state, votes, quorum }: ApprovalView): string {
  if (state !== "open") return `${tool} runs (${code}).`;
  return `${votes} of ${quorum} people have allowed it; waiting for the others.`;
}

/** Operations on tool calls that wait for people. */
export const approvalOperations = [listApprovals, showApproval, answerApproval, revokeApproval] as const;
