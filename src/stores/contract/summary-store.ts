import type { Lease } from "../../domain/turns/lease.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { CompactionRequest, LogEntry, NewSummary, Summary } from "../../domain/turns/summary.ts";
import type { Step } from "../../domain/turns/turn.ts";

/** What stands for steps of conversations that are not shown any more. The steps themselves stay. */
export interface SummaryStore {
  /**
   * What covers a conversation's steps before the one with this `seq`, oldest first: each begins behind the one before
   * it.
   */
  cover(session: string, conversation: number, before: number): Promise<readonly Summary[]>;
  /**
   * Covers steps from now on, and shows the others from `toStep` on, in one transaction; the conversation's prompt is
   * made anew then. Undefined, and no effect, when another conversation has begun or its window does not begin at
   * `windowStart` any more. AppError `fenced` when another host works on the session.
   */
  add(summary: NewSummary, expected: { readonly windowStart: number }, lease?: Lease): Promise<Summary | undefined>;
  /** How many entries a conversation's log has. */
  entryCount(session: string, conversation: number): Promise<number>;
  /** The newest entries of a conversation's log before this one, oldest first. */
  entries(
    session: string,
    conversation: number,
    window: { readonly before: number; readonly limit: number },
  ): Promise<readonly (LogEntry & { readonly body: Step["body"] })[]>;
  /** What people have asked for and not been told about. */
  requests(): Promise<readonly CompactionRequest[]>;
  /**
   * Ends a request together with what is said of it. False, and no effect, where there is none of this message any
   * more.
   */
  settleRequest(
    request: Pick<CompactionRequest, "session" | "message">,
    outgoing: readonly OutgoingDraft[],
    at: number,
  ): Promise<boolean>;
}
