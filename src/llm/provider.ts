import type { ModelAnswer, ModelMessage, ToolDefinition } from "../domain/model.ts";

/** One call. `system` is in sections, the stable part first; adapters may put a cache mark behind the first one. */
export interface ProviderRequest {
  readonly model: string;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly maxOutputTokens: number;
}

/** Told of text as it streams in; must not throw. */
export type OnDelta = (text: string) => void;

/**
 * Why a call failed, in the terms the gateway acts on.
 * `rate-limited` and `overloaded`: try again, after `retryAfterMs` if the vendor said so. `unavailable`: connection, time-out,
 * 5xx, malformed or cut answer. `auth`: the key is refused. `invalid`: the request is refused as such. `too-long`: it does not fit.
 */
export type ProviderFailure = "rate-limited" | "overloaded" | "unavailable" | "auth" | "invalid" | "too-long";

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly failure: ProviderFailure;
  readonly retryAfterMs: number | undefined;

  constructor(
    failure: ProviderFailure,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * A vendor. `complete` makes exactly one attempt (no retries of its own), streams, and resolves with a whole answer: tool
 * inputs are parsed JSON objects (unparsable ones are kept as `{}` plus a failed call is never invented). Rejects with
 * ProviderError, or with the signal's reason when aborted. Never puts a key into an error, a log or an answer.
 */
export interface Provider {
  readonly name: string;
  complete(
    request: ProviderRequest,
    options: { signal: AbortSignal; onDelta?: OnDelta | undefined },
  ): Promise<ModelAnswer>;
  /** Is the vendor reachable and the key accepted? Costs no tokens. */
  check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }>;
}
