import type { LogEntry, SummaryKind } from "./summary.ts";

/** Entries of a conversation's log, inclusive; `from` is one more than `to` where there are none. */
export interface EntryRange {
  readonly from: number;
  readonly to: number;
}

/** Makeup of a conversation's prompts. Tokens are our own, generous estimate. */
export interface ContextView {
  readonly group: string;
  readonly session: string;
  readonly first: number;
  readonly last: number;
  /** Oldest first, each behind the one before it. */
  readonly summaries: readonly (EntryRange & { readonly tokens: number; readonly kind: SummaryKind })[];
  /** Entries shown unsummarized. */
  readonly raw: EntryRange;
  readonly tokens: {
    /** Context window of the smallest model in the group's route; null when unknown. */
    readonly window: number | null;
    readonly total: number;
    readonly bySection: Readonly<Record<ContextSection, number>>;
  };
  /** All of the log, where that was asked for. */
  readonly entries?: readonly LogEntry[];
}

/** Sections of a prompt: first those of the system prompt, then the rest. */
export const contextSections = [
  "system",
  "instructions",
  "chat",
  "notes",
  "skills",
  "tools",
  "memory",
  "summaries",
  "messages",
  "results",
] as const;

export type ContextSection = (typeof contextSections)[number];
