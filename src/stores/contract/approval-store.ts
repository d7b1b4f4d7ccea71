import type {
  Answered,
  Approval,
  ApprovalAnswer,
  ApprovalState,
  CardReaction,
  ChangeOutcome,
  Decider,
  Grant,
  GrantBinding,
  KeptChange,
  NewApproval,
  StandingQuestion,
} from "../../domain/rights/approval.ts";
import type { Lease } from "../../domain/turns/lease.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";

/** A call that may be covered by a grant. */
export interface GrantedCall extends GrantBinding {
  readonly group: string;
  readonly session: string;
  readonly conversation: number;
  readonly tool: string;
  readonly sha256: string;
  readonly now: number;
}

/** A question that hangs on no turn, and what asks it. */
export interface StandingAsk {
  /** Group in which it is answered. */
  readonly group: string;
  readonly approval: NewApproval & { readonly about: StandingQuestion };
  /** Card in a chat; undefined when only the operator is asked. */
  readonly card: OutgoingDraft | undefined;
  /** Bound on what the same asker has asked in the group since then; absent: none. */
  readonly limit?: { readonly most: number; readonly since: number } | undefined;
  /** The card only says where the question belongs: it is not sent. */
  readonly isSilent?: boolean | undefined;
  /** Messages to other chats. */
  readonly outgoing?: readonly OutgoingDraft[] | undefined;
  /** Decider who allowed it already, so that nobody is asked; only of reviews. */
  readonly allowedBy?: Omit<Decider, "person"> | undefined;
}

/** Permissions that count beyond the approval that gave them. */
export interface GrantStore {
  /**
   * One that covers this call (`isBoundTo`). One that was given in the future was given before the clock was set back: it counts for
   * no longer.
   */
  grantFor(call: GrantedCall): Promise<Grant | undefined>;
  /** Those that count at that moment, newest first. */
  grants(filter: { readonly group?: string | undefined; readonly now: number }): Promise<Grant[]>;
  /** The grant as it was; undefined when there is none that counts. */
  revoke(id: string, at: number): Promise<Grant | undefined>;
}

/** Calls that people were asked about. */
export interface ApprovalReader {
  get(code: string): Promise<Approval | undefined>;
  /** In the order of the calls. */
  ofTurn(turn: string): Promise<Approval[]>;
  ofStep(step: number): Promise<Approval[]>;
  /** The one that was asked with this message of the outbox. */
  ofCard(outboxSeq: number): Promise<Approval | undefined>;
  /** Rows, newest first. */
  list(filter: {
    readonly group?: string | undefined;
    readonly state?: ApprovalState | undefined;
    readonly about?: StandingQuestion | undefined;
    readonly limit: number;
  }): Promise<Approval[]>;
  /** Those that are open, the one that was asked first at the front. */
  open(): Promise<Approval[]>;
  openCount(): Promise<number>;
  /** Messages of the outbox with which those were asked that are open on this channel, newest first. */
  openCards(channel: string, limit: number): Promise<number[]>;
  /** Those that were decided, expired or cancelled and are not on record yet, in the order of asking. */
  unrecorded(): Promise<Approval[]>;
}

/** The end of a decided review. */
export interface ReviewEnd {
  readonly outcome: ChangeOutcome;
  readonly kept: readonly KeptChange[];
  /** Messages about it. */
  readonly said: readonly OutgoingDraft[];
  readonly at: number;
}

/** Decisions about folders with review. */
export interface ReviewStore {
  /** Reviews that were decided and are not carried out yet, in the order of asking. */
  undone(): Promise<Approval[]>;
  /** The group's reviews that were carried out, by when they were decided: those after that moment, newest first. */
  carriedOut(group: string, filter: { readonly after: number; readonly limit: number }): Promise<Approval[]>;
  /** Notes that a decided review was carried out. */
  endReview(code: string, end: ReviewEnd): Promise<void>;
}

/**
 * Calls that people are asked about. They are opened with their step (see `NewStep.asks`) and cancelled with the end of
 * their turn. An answer and what is said about it are written together; of several at once, the first one counts.
 */
export interface ApprovalStore extends GrantStore, ApprovalReader, ReviewStore {
  /**
   * Asks about something that hangs on no turn. Of a description, `known`: exactly this was asked before; those that
   * are open about the same tool, and about something else that it says, are cancelled. Of a review, `known`: the same
   * changes of the same folder are open; those that are open about others are cancelled, with the new code as reason.
   * `too-many`: its asker has asked that often since then.
   */
  ask(asked: StandingAsk): Promise<"asked" | "known" | "too-many">;
  /** Cancels an open approval that no longer matters, with messages about it. False when it is no longer open. */
  cancel(code: string, at: number, outgoing: readonly OutgoingDraft[]): Promise<boolean>;
  /**
   * Answers an open one, with what `tell` says in chats. One whose time is over by the answer's moment expires instead.
   * `tell` runs inside the transaction: it must not wait or throw. Of a review, a part can be decided: it becomes a
   * separate approval, whose code begins with the other's, which stays open for the rest. AppError `not_found` for an
   * unknown code.
   */
  decide(answer: ApprovalAnswer, tell: (answered: Answered) => readonly OutgoingDraft[]): Promise<Answered>;
  /** The last reaction of this person to the card of which anything came. */
  reactionOf(code: string, person: string): Promise<CardReaction | undefined>;
  /** Records an ineffective reaction and replies: once per person, to the first few. False when nothing was said. */
  refuseReaction(
    reaction: Omit<CardReaction, "refused">,
    refusal: { readonly at: number; readonly most: number; readonly outgoing: readonly OutgoingDraft[] },
  ): Promise<boolean>;
  /** Expires an unanswered approval, with messages about it. False when it is no longer open. */
  expire(code: string, at: number, outgoing: readonly OutgoingDraft[]): Promise<boolean>;
  /**
   * Notes that the decided calls of a step are given to the agent now, and returns them as they are. Undefined, and no
   * effect, when that was done before or some are still open. AppErrors `conflict` when the turn has ended, `fenced`
   * when another host works on it.
   */
  release(step: number, at: number, lease?: Lease): Promise<Approval[] | undefined>;
  /** Says once in the life of the turn's open approvals that it waits for them. */
  tellWaiting(turn: string, outgoing: readonly OutgoingDraft[], at: number): Promise<boolean>;
  /** Notes what becomes of a proposed change or of a decided review, with what is said about it in chats. */
  noteOutcome(code: string, outcome: ChangeOutcome, said: readonly OutgoingDraft[], at: number): Promise<void>;
  recorded(code: string): Promise<void>;
}
