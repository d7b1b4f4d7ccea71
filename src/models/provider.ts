import type { ModelAnswer, ModelMessage, ModelUsage, ToolDefinition } from "../domain/turns/model.ts";
import type { Effort } from "./routes/routes.ts";

/** One call. `system` is in sections, the stable part first; adapters may put a cache mark behind the first one. */
export interface ProviderRequest {
  readonly model: string;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly maxOutputTokens: number;
  /** Effort; the vendor's default when omitted. */
  readonly thinking?: Effort | undefined;
  readonly temperature?: number | undefined;
  /** Image bytes by SHA-256. Missing images are described in words. */
  readonly images?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** Told about text as it streams in; must not throw. */
export type OnDelta = (text: string) => void;

/**
 * Told what the call has cost: counted by the vendor where it says so, otherwise estimated. At least once before a call
 * ends, in whatever way, in which anything was received; never in one that the vendor refused. Must not throw.
 */
export type OnUsage = (usage: ModelUsage) => void;

/**
 * Class of a failed call. `rate-limited` and `overloaded`: retry, after `retryAfterMs` if given. `unavailable`:
 * connection, time-out, 5xx, malformed or cut answer. `auth`: refused key. `invalid`: refused request. `too-long`: does
 * not fit.
 */
export type ProviderFailure = "rate-limited" | "overloaded" | "unavailable" | "auth" | "invalid" | "too-long";

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly failure: ProviderFailure;
  readonly retryAfterMs: number | undefined;
  /** Window size that the vendor reports when refusing a prompt as too long. */
  readonly windowTokens: number | undefined;

  constructor(
    failure: ProviderFailure,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined; windowTokens?: number | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs;
    this.windowTokens = options.windowTokens;
  }
}

/**
 * A vendor of models. `complete` makes exactly one attempt, streams, and resolves with a whole answer: tool inputs are
 * parsed JSON objects, or the text of what is none. A silent stream is ended. Rejects with
 * ProviderError, or with the signal's reason when aborted. Never puts a key into an error, a log or an answer.
 */
export interface Provider extends AsyncDisposable {
  readonly name: string;
  complete(
    request: ProviderRequest,
    options: { signal: AbortSignal; onDelta?: OnDelta | undefined; onUsage?: OnUsage | undefined },
  ): Promise<ModelAnswer>;
  /** Checks that the vendor is reachable and accepts the key. Costs no tokens. */
  check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }>;
}
