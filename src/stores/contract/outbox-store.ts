import type { GroupChat } from "../../domain/chats/group.ts";
import type { OutboxState, OutgoingDraft, OutgoingMessage } from "../../domain/chats/message.ts";

/** Messages of the outbox by what they belong to. */
interface SentMessageReader {
  /** A channel's rows with `seq > after` in any state, in order, except pruned ones. */
  ofChannel(channel: string, after: number, limit: number): Promise<OutgoingMessage[]>;
  /** The agent's messages in a group with `seq > after` in any state, in order, except pruned ones. */
  saidIn(group: GroupChat, after: number, limit: number): Promise<OutgoingMessage[]>;
  /**
   * The newest message that the host sent in this chat with this turn id or `seq`. A `seq` that is also the id of a
   * member's message does not count.
   */
  own(channel: string, chat: string, reference: string): Promise<OutgoingMessage | undefined>;
  /** The newest `seq` of a chat, newest first, except pruned ones. */
  seqsIn(channel: string, chat: string, limit: number): Promise<number[]>;
  /** Key of the session whose turn sent this message; undefined for an unknown one or one of the host. */
  sessionOf(channel: string, chat: string, reference: string): Promise<string | undefined>;
  /** A turn's messages, in order. */
  ofTurn(turn: string): Promise<OutgoingMessage[]>;
}

export interface OutboxStore extends SentMessageReader {
  add(draft: OutgoingDraft, at: number): Promise<OutgoingMessage>;
  /** Rows still to send (`queued`, `sending`, `uncertain`) with `seq > after` (default 0), in order. */
  unsent(limit: number, after?: number): Promise<OutgoingMessage[]>;
  setState(seq: number, state: OutboxState, attempts: number, error?: string): Promise<void>;
  counts(): Promise<Record<OutboxState, number>>;
  get(seq: number): Promise<OutgoingMessage | undefined>;
  /** Rows, newest first. */
  list(filter: {
    state?: OutboxState | undefined;
    group?: string | undefined;
    limit: number;
  }): Promise<OutgoingMessage[]>;
  /** Rows with a file that are still to send or newer than `since`. */
  withFiles(since: number): Promise<OutgoingMessage[]>;
  /**
   * Puts `dead` or `uncertain` rows that are not pruned back to `queued` with no attempts. Returns their numbers, in
   * order.
   */
  requeue(seqs: readonly number[], at: number): Promise<number[]>;
}
