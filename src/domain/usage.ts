/** What model calls are added up by; `member`: who set the agent to work. */
export type UsageBy = "group" | "member" | "model" | "day";

/** What model calls have used. */
export interface UsageSum {
  /** A group, a model, a day (UTC), or `<channel>:<id>` of a member; empty for calls that no member caused. */
  readonly key: string;
  /** Of a member, where it is known. */
  readonly name: string | undefined;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Calls whose price is not known: they add nothing to `usd`. */
  readonly unpricedCalls: number;
}

/** What one model call has used, and what it was for. */
export interface CallUsage {
  readonly model: string;
  /** The first message of this turn says whose call it was. */
  readonly turn: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined: the price is not known. */
  readonly usd: number | undefined;
}
