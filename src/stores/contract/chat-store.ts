import type { Chat, ChatRequest, RequestLimits, RequestSettlement } from "../../domain/chats/group.ts";
import type { OutgoingDraft, Sender } from "../../domain/chats/message.ts";

export interface ChatStore {
  /**
   * Counts a message of a chat and notes when it was seen; `group` as registered at that moment. A title that is not
   * known stays.
   */
  seen(message: {
    channel: string;
    chat: string;
    group: string | undefined;
    at: number;
    title?: string | undefined;
  }): Promise<void>;
  /** Notes what a platform says of a chat; what is not known stays as it was. */
  changed(facts: {
    channel: string;
    chat: string;
    at: number;
    title?: string | undefined;
    members?: readonly Sender[] | undefined;
    left?: boolean | undefined;
  }): Promise<void>;
  get(channel: string, chat: string): Promise<Chat | undefined>;
  /** Those seen last first, with what has become of their requests. */
  list(): Promise<Chat[]>;
  /** Notes the member's newest name. */
  memberSeen(group: string, sender: { id: string; name: string }, at: number): Promise<void>;
  /** Everybody who was ever seen in a group, by the name that they had last. */
  allMembers(): Promise<{ group: string; id: string; name: string }[]>;
  /** Senders in the group with their newest names, last seen first; at most 1,000. */
  members(group: string): Promise<Sender[]>;
}

/** Chats that ask to become groups. */
export interface RequestStore {
  /**
   * In one transaction, notes a request and writes the rows that tell of it. False, and no effect, when the chat has
   * one, waiting or denied, or a limit is reached.
   */
  open(
    request: Omit<ChatRequest, "state">,
    words: { readonly limits: RequestLimits; readonly outgoing: readonly OutgoingDraft[] },
  ): Promise<boolean>;
  get(code: string): Promise<ChatRequest | undefined>;
  /** Answers a request and writes these rows, in one transaction. */
  settle(answer: RequestSettlement, outgoing: readonly OutgoingDraft[], at: number): Promise<void>;
  /** Pairings, the oldest first, those included whose hour is over. */
  pairings(): Promise<ChatRequest[]>;
  /** Number of requests waiting for an answer. */
  waiting(now: number): Promise<number>;
  /** Wrong codes that were typed at this place, and when the last one was. */
  tries(place: string): Promise<{ readonly wrong: number; readonly at: number } | undefined>;
  /** Counts a wrong code; the one that was typed as this message only once. Returns how many there are. */
  noteTry(tried: { readonly place: string; readonly message: number; readonly at: number }): Promise<number>;
  forgetTries(place: string): Promise<void>;
  /** The chat has become a group in another way. */
  forget(channel: string, chat: string): Promise<void>;
}
