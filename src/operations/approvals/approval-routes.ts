import type { FastifyInstance, FastifyRequest } from "fastify";
import * as z from "zod";

import { addressActor } from "../../domain/actor.ts";
import { approvalScopes } from "../../domain/approval.ts";
import { AppError } from "../../lib/app-error.ts";
import {
  type ApprovalOperationOptions,
  type ApprovalReadingOptions,
  listApprovals,
  operator,
  viewApproval,
} from "./approvals.ts";
import { refuseInput } from "../refuse-input.ts";

export interface ApprovalRouteOptions extends ApprovalReadingOptions {
  /** Undefined while the host is starting. */
  readonly desk: () => ApprovalOperationOptions["approvalDesk"] | undefined;
}

const filter = z.strictObject({
  group: z.string().min(1).max(256).optional(),
  all: z.enum(["true", "false"]).optional(),
});
const answer = z.strictObject({
  decision: z.enum(["allow", "deny"]),
  scope: z.enum(approvalScopes).optional(),
  /** For the agent and the chat. */
  reason: z.string().max(400).optional(),
  /** What a form asks for: values by their names, or as people write them. */
  values: z
    .union([z.string().max(16_000), z.record(z.string().max(256), z.unknown())])
    .transform((values) => (typeof values === "string" ? values : JSON.stringify(values)))
    .optional(),
});

/** Lists what people are asked, and answers it: whoever has the gateway's token decides as the operator does. */
export function addApprovalRoutes(routes: FastifyInstance, options: ApprovalRouteOptions): void {
  routes.get("/v1/approvals", async (request, reply) => {
    const query = filter.safeParse(request.query);
    if (!query.success) return refuseInput(reply, query.error);
    const { group, all } = query.data;
    return reply.send({ approvals: await listApprovals(options, { group, all: all === "true" }) });
  });
  routes.post<{ Params: { code: string } }>("/v1/approvals/:code", async (request, reply) => {
    const body = answer.safeParse(request.body);
    if (!body.success) return refuseInput(reply, body.error);
    return reply.send(await decide(options, request, body.data));
  });
}

async function decide(
  { desk }: ApprovalRouteOptions,
  { params, ip }: FastifyRequest<{ Params: { code: string } }>,
  { decision, scope = "once", reason, values }: z.infer<typeof answer>,
): Promise<object> {
  const open = desk();
  if (!open) throw new AppError("intake_stopped", "The host is starting.");
  const by = { ...operator, actor: addressActor(ip) };
  const code = params.code.toUpperCase();
  return viewApproval(await open.answer({ code, allow: decision === "allow", scope, reason, by }, { values }));
}
