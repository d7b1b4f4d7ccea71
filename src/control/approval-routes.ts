import * as z from "zod";

import { name, type Route, route } from "./route.ts";

/** What people are asked about tool calls, and their answers. */
export const approvalRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/approvals",
    operation: "approvals.list",
    parameters: z.strictObject({ group: name.optional(), all: z.literal("true").optional() }),
    run: (host, { group, all }) => host.listApprovals({ group, all: all === "true" }),
  }),
  route({
    method: "GET",
    path: "/approvals/:code",
    operation: "approvals.show",
    parameters: z.strictObject({ code: name }),
    run: (host, { code }) => host.showApproval(code),
  }),
  route({
    method: "POST",
    path: "/approvals/:code",
    operation: "approvals.answer",
    parameters: z.strictObject({
      code: name,
      decision: z.enum(["allow", "deny"]),
      scope: z.enum(["once", "session", "day", "always"]).optional(),
      reason: z.string().max(400).optional(),
    }),
    run: (host, { code, decision, scope, reason }) =>
      host.answerApproval(code, { allow: decision === "allow", scope, reason }),
  }),
  route({
    method: "DELETE",
    path: "/approvals/:id",
    operation: "approvals.revoke",
    parameters: z.strictObject({ id: name }),
    run: (host, { id }) => host.revokeApproval(id),
  }),
];
