import * as z from "zod";

import { ConnectionEnd, SendError } from "../../channels/channel.ts";
import { toError } from "../../lib/app-error.ts";
import { shorten } from "../../lib/text/visible.ts";
import { ProviderError } from "../../models/provider.ts";
import { ToolError } from "../../protocol/tools.ts";

const mostChars = 2_000;
const delay = z.number().min(0).max(86_400_000).optional();

/** An error on its way from one process to the other: what it says, and of crabpot's own kinds what they know. */
export const failureSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("other"), message: z.string().max(mostChars + 40) }),
  z.strictObject({ kind: z.literal("tool"), message: z.string().max(mostChars + 40) }),
  z.strictObject({
    kind: z.literal("send"),
    message: z.string().max(mostChars + 40),
    permanent: z.boolean(),
    ambiguous: z.boolean(),
    retryAfterMs: delay,
  }),
  z.strictObject({
    kind: z.literal("provider"),
    message: z.string().max(mostChars + 40),
    failure: z.enum(["rate-limited", "overloaded", "unavailable", "auth", "invalid", "too-long"]),
    retryAfterMs: delay,
  }),
  z.strictObject({
    kind: z.literal("end"),
    message: z.string().max(mostChars + 40),
    end: z.enum(["lost", "restart", "conflict", "logged-out", "closed"]),
    isAlarm: z.boolean(),
    retryAfterMs: delay,
  }),
]);

export type Failure = z.output<typeof failureSchema>;

export function toFailure(thrown: unknown): Failure {
  const error = toError(thrown);
  const message = shorten(error.message, mostChars);
  if (error instanceof ToolError) return { kind: "tool", message };
  if (error instanceof SendError) {
    const { permanent, ambiguous, retryAfterMs } = error;
    return { kind: "send", message, permanent, ambiguous, retryAfterMs };
  }
  if (error instanceof ProviderError)
    return { kind: "provider", message, failure: error.failure, retryAfterMs: error.retryAfterMs };
  if (error instanceof ConnectionEnd)
    return { kind: "end", message, end: error.kind, isAlarm: error.isAlarm, retryAfterMs: error.retryAfterMs };
  return { kind: "other", message };
}

export function fromFailure(failure: Failure): Error {
  const { kind, message } = failure;
  if (kind === "tool") return new ToolError(message);
  if (kind === "provider") return new ProviderError(failure.failure, message, { retryAfterMs: failure.retryAfterMs });
  if (kind === "end") return new ConnectionEnd(failure.end, message, failure);
  if (kind === "other") return new Error(message);
  const { permanent, ambiguous, retryAfterMs } = failure;
  return new SendError(message, { permanent, ambiguous, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
