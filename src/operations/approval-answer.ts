import * as z from "zod";

import { approvalScopes } from "../domain/approval.ts";

/** An answer to what people are asked, as programs give it. */
export const approvalAnswer = z.strictObject({
  decision: z.enum(["allow", "deny"]),
  scope: z.enum(approvalScopes).optional(),
  /** For the agent and the chat. */
  reason: z.string().max(400).optional(),
});
