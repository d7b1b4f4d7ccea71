/** `summary`: a model has written what was said; `eviction`: only a note of the host says that something was. */
export type SummaryKind = "summary" | "eviction";

/**
 * What stands in a conversation's prompt for steps that are not shown any more. Steps are named by their `seq`,
 * inclusive; entries count them from 1 in the log of the conversation. Those of one conversation that hold at a time
 * follow each other without a gap.
 */
export interface Summary {
  readonly kind: SummaryKind;
  readonly fromStep: number;
  readonly toStep: number;
  readonly fromEntry: number;
  readonly toEntry: number;
  /** Written by a model from whatever was said; empty for an eviction. */
  readonly text: string;
  /** What the text adds to the prompt, as we estimate it. */
  readonly tokens: number;
  /** `provider/model` that wrote it. */
  readonly model: string | undefined;
  readonly madeAt: number;
}

/** One that is to hold from now on; all steps behind it stay as they are. */
export interface NewSummary extends Omit<Summary, "fromEntry" | "toEntry"> {
  readonly session: string;
  readonly conversation: number;
}

/** Somebody has asked that a conversation be compacted, and has not been told yet what came of it. */
export interface CompactionRequest {
  readonly session: string;
  readonly conversation: number;
  readonly group: string;
  /** The message that asked, by its number in the store. */
  readonly message: number;
}

/** A step of a conversation with its place in the log. */
export interface LogEntry {
  readonly entry: number;
  readonly turn: string;
  readonly at: number;
  readonly kind: "user" | "model" | "tools";
  readonly tokens: number;
}
