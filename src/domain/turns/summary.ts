import type { Origin } from "../people/origin.ts";

/** `summary`: a model has written what was said; `eviction`: only a note of the host says that something was. */
export type SummaryKind = "summary" | "eviction";

/**
 * Stand-in for steps that a conversation's prompt no longer shows. Steps are named by `seq`, inclusive; entries count
 * them from 1 in the conversation's log. Valid summaries of a conversation follow each other without a gap.
 */
export interface Summary {
  readonly kind: SummaryKind;
  readonly fromStep: number;
  readonly toStep: number;
  readonly fromEntry: number;
  readonly toEntry: number;
  /** Written by a model from whatever was said; empty for an eviction. */
  readonly text: string;
  /** Estimated tokens that the text adds to the prompt. */
  readonly tokens: number;
  /** `provider/model` that wrote it. */
  readonly model: string | undefined;
  readonly madeAt: number;
  /** Origins of all that it stands for. */
  readonly origins: readonly Origin[];
}

/** One that is to hold from now on; all steps behind it stay as they are. The store knows its origins. */
export interface NewSummary extends Omit<Summary, "fromEntry" | "toEntry" | "origins"> {
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
