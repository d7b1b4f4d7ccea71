import type { ModelAnswer, ModelMessage, ModelUsage, ToolDefinition } from "../domain/turns/model.ts";
import type { Effort } from "./routes/routes.ts";

/** One call. `system` is in sections, the stable part first; adapters may put a cache mark behind the first one. */
export interface ProviderRequest {
  readonly model: string;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly maxOutputTokens: number;
  /** Left out: as the vendor has it. */
  readonly thinking?: Effort | undefined;
  readonly temperature?: number | undefined;
  /**
   * The bytes of images to show, by the SHA-256 that parts refer to them by. What is not among them is told in words.
   */
  readonly images?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** Told of text as it streams in; must not throw. */
export type OnDelta = (text: string) => void;

/**
 * Told what the call has cost: counted by the vendor where it says so, otherwise estimated. At least once before a call
 * ends, in whatever way, in which anything was received; never in one that the vendor refused. Must not throw.
 */
export type OnUsage = (usage: ModelUsage) => void;

/**
 * Why a call failed, in the terms that the calls act on. `rate-limited` and `overloaded`: try again, after
 * `retryAfterMs` if the vendor said so. `unavailable`: connection, time-out, 5xx, malformed or cut answer. `auth`: the
 * key is refused. `invalid`: the request is refused as such. `too-long`: it does not fit.
 */
export type ProviderFailure = "rate-limited" | "overloaded" | "unavailable" | "auth" | "invalid" | "too-long";

export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly failure: ProviderFailure;
  readonly retryAfterMs: number | undefined;
  /** How large the vendor says the model's window is, where it refuses a prompt as too long and says it. */
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
 * A vendor. `complete` makes exactly one attempt (no retries of its own), streams, and resolves with a whole answer:
 * tool inputs are parsed JSON objects, and an answer with an unparsable one is malformed as a whole. A stream that is
 * silent for too long is ended. Rejects with ProviderError, or with the signal's reason when aborted. Never puts a key
 * into an error, a log or an answer.
 */
export interface Provider extends AsyncDisposable {
  readonly name: string;
  complete(
    request: ProviderRequest,
    options: { signal: AbortSignal; onDelta?: OnDelta | undefined; onUsage?: OnUsage | undefined },
  ): Promise<ModelAnswer>;
  /** Is the vendor reachable and the key accepted? Costs no tokens. */
  check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }>;
}
