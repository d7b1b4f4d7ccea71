import type { Lease } from "../../domain/turns/lease.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { CompactionRequest, LogEntry, NewSummary, Summary } from "../../domain/turns/summary.ts";
import type { Step } from "../../domain/turns/turn.ts";

/** Summaries of steps that are no longer shown. The steps themselves stay. */
export interface SummaryStore {
  /** Summaries covering a conversation's steps before this `seq`, oldest first, without gaps. */
  cover(session: string, conversation: number, before: number): Promise<readonly Summary[]>;
  /**
   * Adds a summary and moves the window to `toStep`, in one transaction; the conversation's prompt is then rebuilt.
   * Undefined, without effect, when another conversation has begun or its window no longer begins at `windowStart`.
   * AppError `fenced` when another host works on the session.
   */
  add(summary: NewSummary, expected: { readonly windowStart: number }, lease?: Lease): Promise<Summary | undefined>;
  /** Number of entries in a conversation's log. */
  entryCount(session: string, conversation: number): Promise<number>;
  /** The newest entries of a conversation's log before this one, oldest first. */
  entries(
    session: string,
    conversation: number,
    window: { readonly before: number; readonly limit: number },
  ): Promise<readonly (LogEntry & { readonly body: Step["body"] })[]>;
  /** Unanswered compaction requests. */
  requests(): Promise<readonly CompactionRequest[]>;
  /** Settles a request together with its reply. False, without effect, when this message has none anymore. */
  settleRequest(
    request: Pick<CompactionRequest, "session" | "message">,
    outgoing: readonly OutgoingDraft[],
    at: number,
  ): Promise<boolean>;
}
