import { ConnectionEnd, SendError } from "../../channels/channel.ts";
import { ProviderError } from "../../models/provider.ts";
import { type FailureCodec, failureMessage, plainFailures } from "../../processes/failures.ts";
import type { Failure } from "../../processes/protocol.ts";
import { ToolError } from "../../protocol/tools.ts";

/** Errors of tools, channels and providers keep their kind between the host and a plugin. */
export const pluginFailures: FailureCodec = { encode: toFailure, decode: fromFailure };

function toFailure(error: unknown): Failure {
  const message = failureMessage(error);
  if (error instanceof ToolError) return { kind: "tool", message };
  if (error instanceof SendError) {
    const { permanent, ambiguous, retryAfterMs } = error;
    return { kind: "send", message, permanent, ambiguous, retryAfterMs };
  }
  if (error instanceof ProviderError)
    return { kind: "provider", message, failure: error.failure, retryAfterMs: error.retryAfterMs };
  if (error instanceof ConnectionEnd)
    return { kind: "end", message, end: error.kind, isAlarm: error.isAlarm, retryAfterMs: error.retryAfterMs };
  return plainFailures.encode(error);
}

function fromFailure(failure: Failure): Error {
  const { kind, message } = failure;
  if (kind === "tool") return new ToolError(message);
  if (kind === "provider") return new ProviderError(failure.failure, message, { retryAfterMs: failure.retryAfterMs });
  if (kind === "end") return new ConnectionEnd(failure.end, message, failure);
  if (kind !== "send") return plainFailures.decode(failure);
  const { permanent, ambiguous, retryAfterMs } = failure;
  return new SendError(message, { permanent, ambiguous, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
