import { backoffMs, jittered } from "../lib/time/backoff.ts";
import { type ChannelState, ConnectionEnd } from "./channel.ts";

export interface ReconnectLimits {
  /** Wait after the first failure; doubled with each further one up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Number of failures in a row after which tries come every `slowMs`. */
  readonly slowAfter: number;
  readonly slowMs: number;
  /** A connection that was well for so long makes earlier failures forgotten. */
  readonly healthyMs: number;
  /** The one try after another session has taken the account over. */
  readonly conflictMs: number;
}

export const reconnectLimits: ReconnectLimits = {
  firstMs: 1_000,
  longestMs: 60_000,
  slowAfter: 10,
  slowMs: 300_000,
  healthyMs: 300_000,
  conflictMs: 600_000,
};

/** Reaction to the end of a connection. Without a delay: stay closed until the host restarts. */
export interface Reconnect {
  readonly state: ChannelState["state"];
  readonly delayMs: number | undefined;
  /** Failures in a row so far. */
  readonly failures: number;
}

const jitter = { least: 0.75, most: 1.25 };

/**
 * Counts how connections end and says when to make the next one. A link that opens and dies at once is a failing one.
 */
export class ReconnectPolicy {
  readonly #limits: ReconnectLimits;
  #failures = 0;
  #conflicts = 0;
  #restarts = 0;

  constructor(limits: ReconnectLimits) {
    this.#limits = limits;
  }

  /** `healthyMs`: how long the connection was well without a break, 0 if it was never made. `random`: in 0..1. */
  after(end: Error, healthyMs: number, random: number): Reconnect {
    if (healthyMs >= this.#limits.healthyMs) this.#forget();
    const kind = end instanceof ConnectionEnd ? end.kind : "lost";
    if (kind === "logged-out" || kind === "closed") return this.#say(kind, undefined);
    if (kind === "conflict") return this.#afterConflict();
    if (kind === "restart" && this.#restarts === 0) {
      this.#restarts = 1;
      return this.#say("connecting", 0);
    }
    this.#failures += 1;
    const hint = end instanceof ConnectionEnd ? (end.retryAfterMs ?? 0) : 0;
    return this.#say("connecting", Math.max(this.#backoffMs(random), Math.min(hint, longestHintMs)));
  }

  /** Allows one try after a conflict: two sessions that take an account from each other need a person. */
  #afterConflict(): Reconnect {
    this.#conflicts += 1;
    return this.#say("conflict", this.#conflicts === 1 ? this.#limits.conflictMs : undefined);
  }

  #backoffMs(random: number): number {
    const { firstMs, longestMs, slowAfter, slowMs } = this.#limits;
    if (this.#failures >= slowAfter) return jittered(slowMs, jitter, random);
    return backoffMs({ firstMs, longestMs, jitter }, this.#failures, random);
  }

  #forget(): void {
    this.#failures = 0;
    this.#conflicts = 0;
    this.#restarts = 0;
  }

  #say(state: Reconnect["state"], delayMs: number | undefined): Reconnect {
    return { state, delayMs, failures: this.#failures };
  }
}

/** Longest accepted delay: what a timer can hold. */
const longestHintMs = 24 * 3_600_000;
