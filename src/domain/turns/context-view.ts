import type { LogEntry, SummaryKind } from "./summary.ts";

/** Entries of a conversation's log, inclusive; `from` is one more than `to` where there are none. */
export interface EntryRange {
  readonly from: number;
  readonly to: number;
}

/** What a conversation's prompts are made of. Tokens are our own estimate, which is on the high side. */
export interface ContextView {
  readonly group: string;
  readonly session: string;
  readonly first: number;
  readonly last: number;
  /** Oldest first, each behind the one before it. */
  readonly summaries: readonly (EntryRange & { readonly tokens: number; readonly kind: SummaryKind })[];
  /** What is shown as it is. */
  readonly raw: EntryRange;
  readonly tokens: {
    /** Of the smallest model of the group's route; null: it is not known. */
    readonly window: number | null;
    readonly total: number;
    readonly bySection: Readonly<Record<ContextSection, number>>;
  };
  /** All of the log, where that was asked for. */
  readonly entries?: readonly LogEntry[];
}

/** Who uses a prompt's tokens: what stands in the system prompt, then what else there is. */
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
