import { createHash } from "node:crypto";

import type { ConversationPrompt } from "../../domain/turns/conversation.ts";
import type { OfferedTool } from "../../domain/turns/model.ts";
import type { TextSources } from "../../domain/rights/sourced.ts";
import type { Session, SessionKind } from "../../domain/turns/session.ts";

/** A session beside a group's main one. */
export interface NewSideSession {
  readonly kind: Exclude<SessionKind, "main">;
  readonly parent?: string | undefined;
  readonly ephemeral?: boolean | undefined;
}

/** The prompt, the tools and the bounds that a conversation was given. */
interface ConversationStore {
  /** Only moves forward, over new conversations, too: numbers of steps rise. */
  setClearedBefore(id: string, stepSeq: number): Promise<void>;
  /**
   * From now on only pictures of steps from this one on are shown as such; of the others, captions up to this number
   * are told. Moves forward only.
   */
  retirePictures(id: string, retired: { readonly from: number; readonly captions: number }): Promise<void>;
  /** The prompt of its last conversation that has one. */
  prompt(id: string): Promise<ConversationPrompt | undefined>;
  /**
   * Keeps the prompt with the origins that its sources have now, which the turn has read then; these are returned.
   * AppError `not_found` when there is no such turn.
   */
  setPrompt(
    id: string,
    prompt: Omit<ConversationPrompt, "origins">,
    read: TextSources & { readonly turn: string },
  ): Promise<ConversationPrompt>;
  /** Tools offered to the conversation; undefined when none yet. */
  offered(id: string, conversation: number): Promise<readonly OfferedTool[] | undefined>;
  /**
   * Returns the conversation's tools as first offered, or keeps these when it is the first time. Kept for a session's
   * newest conversation only.
   */
  offerTools(id: string, conversation: number, tools: readonly OfferedTool[]): Promise<readonly OfferedTool[]>;
  /** From now on the newest conversation was offered these tools, which begin with those that it was offered before. */
  extendOffer(id: string, conversation: number, tools: readonly OfferedTool[]): Promise<readonly OfferedTool[]>;
}

export interface SessionStore extends ConversationStore {
  /**
   * The session of this key, made if it is new, `main` unless told otherwise. Rejects with `conflict` when there is one
   * of another kind, or when it was archived; an ephemeral one that was archived begins a new conversation instead.
   */
  open(key: string, group: string, side?: NewSideSession): Promise<Session>;
  /** The session of this key, whatever its kind; undefined when there is none. */
  find(key: string): Promise<Session | undefined>;
  get(id: string): Promise<Session | undefined>;
  list(): Promise<Session[]>;
  /** Archives it: its due work is dropped. Rejects with `conflict` while one of its turns runs. */
  archive(id: string, at: number): Promise<void>;
  /**
   * Archives ephemeral sessions in which nothing runs and nothing is left to be done, nor in those that work for them:
   * this one, or all. Returns those that it has archived, as they are now: a container of theirs belongs to an earlier
   * generation.
   */
  archiveSettled(at: number, id?: string): Promise<Session[]>;
  /** Begins a new conversation. Rejects with `conflict` while a turn of the session runs. */
  renew(id: string): Promise<void>;
  /** The number for the next life of its container; each call gives a higher one. */
  nextGeneration(id: string): Promise<number>;
  /** The next block of mailbox ids of this session (1, 2, 3 …), never given twice. */
  nextMailboxBlock(id: string): Promise<number>;
}

/**
 * Id of the session with this key: 64 bits of a hash. A home has tens of sessions, and two with the same id would be
 * refused by the store, not mixed.
 */
export function sessionId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}
