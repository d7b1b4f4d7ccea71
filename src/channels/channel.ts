import type { Delta } from "../domain/chats/delta.ts";
import type {
  IncomingMessage,
  IncomingReaction,
  OutgoingMessage,
  OutgoingReaction,
  ProgressLine,
  Sender,
  Sign,
} from "../domain/chats/message.ts";

/** What became of a message that a channel handed over. The channel tells its peer "received" only after `stored`. */
export type Receipt =
  | { readonly outcome: "stored"; readonly duplicate: boolean }
  | { readonly outcome: "unknown-chat" }
  | {
      readonly outcome: "refused";
      readonly code?: RefusalCode | undefined;
      /** For people, without a full stop. */
      readonly reason: string;
      readonly retryAfterS: number;
      /** It lasts for hours, and the chat was told: a channel does not keep the message to offer it again. */
      readonly lasting?: boolean | undefined;
      /** Nothing at all is taken in at present. */
      readonly stopped: boolean;
    };

/** Why a message was not taken, for programs. */
export type RefusalCode =
  | "starting"
  | "stopping"
  | "disk-full"
  | "store-failed"
  | "audit-failed"
  | "queue-full"
  | "all-queues-full"
  | "sender-rate"
  | "daily-limit"
  | "too-many-groups"
  | "too-long";

/** Are messages taken in? If not, why. */
export type IntakeState =
  | { readonly open: true }
  | { readonly open: false; readonly code: RefusalCode; readonly reason: string };

/** Stores a message and decides about it. Resolves after the message is on disk; rejects only when the store failed. */
export type AcceptMessage = (message: IncomingMessage) => Promise<Receipt>;

/**
 * Decides about a reaction to a message of the host's. Nothing comes of most of them, and none is kept as a message;
 * what comes of one comes once, and is on disk before this resolves. The receipt is read as that of a message; rejects
 * only when the store failed.
 */
export type TakeReaction = (reaction: IncomingReaction) => Promise<Receipt>;

/** States of a channel. */
export const channelStates = ["connecting", "open", "degraded", "conflict", "logged-out", "closed"] as const;

/**
 * `connecting` (also while waiting for the next try), `open`, `degraded` (works partly), `conflict` (another session
 * uses the account), `logged-out` (has to be linked again), `closed` (ended or refused). `detail` says why.
 */
export interface ChannelState {
  readonly state: (typeof channelStates)[number];
  readonly since: number;
  readonly detail?: string | undefined;
}

/** What a platform says of a chat: at the first sight of it and when it changed. Absent = not known. */
export interface ChatFacts {
  readonly chat: string;
  readonly title?: string | undefined;
  readonly members?: readonly Sender[] | undefined;
  /** The account is not in the chat any more. */
  readonly left?: boolean | undefined;
}

/** What a channel tells while somebody links it to an account; `open` is the last one. */
export type LoginEvent =
  | { readonly qr: string }
  | { readonly pairingCode: string }
  | { readonly state: ChannelState["state"]; readonly detail?: string | undefined };

export interface LoginOptions {
  /**
   * Digits only. With it the account is linked by a code to be typed instead of a picture to be scanned, where that
   * exists.
   */
  readonly phoneNumber?: string | undefined;
}

/** What a channel tells besides messages. None of it throws. */
export interface ChannelEvents {
  /** The channel's state is this one from now on. */
  changed(state: ChannelState): void;
  /** It cannot help itself any more: somebody has to look at it, for this reason. */
  needsOperator?(reason: string): void;
  /** The platform confirms that a message which it had accepted arrived. */
  delivered(seq: number): void;
  /** The platform told something of a chat. */
  chatChanged?(facts: ChatFacts): void;
  /**
   * With the trait `hearsReactions`: a member put an emoji on a message of the host's, or took it back. Unlike the
   * others, it may reject.
   */
  reacted?: TakeReaction | undefined;
}

/** What a platform knows of a message that may have been sent before. */
export type Found = "accepted" | "absent" | "unknown";

/** Talks to a platform in its own words; the part of a channel that needs somebody at the other end. */
export interface Outlet {
  /**
   * Resolves when the platform has accepted the message and rejects when it has not: with a `SendError` when more is
   * known than that. The outbox calls it for one message of a chat at a time and may call it again with the same `seq`.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  /**
   * Looks whether a message of which nobody knows whether it was sent is there. Asked before such a one is sent again.
   */
  reconcile?(message: OutgoingMessage, signal: AbortSignal): Promise<Found>;
  /** Shows people what they wait for ("is typing"). Best effort: nobody waits for it, and a failure is forgotten. */
  signal?(chat: string, sign: Sign): Promise<void>;
  /** Puts an emoji on a member's message at once, outside the order of messages. Best effort, like `signal`. */
  react?(chat: string, reaction: OutgoingReaction): Promise<void>;
  /**
   * Says what the agent is doing, in place of what it said before; with the trait `edits`. Best effort, like `signal`.
   */
  showProgress?(chat: string, line: ProgressLine): Promise<void>;
  /**
   * Shows what is said and done in a chat while it is, until the message comes; only where the operator alone talks.
   * Must return at once. Left out: nobody looks.
   */
  showDelta?: ((delta: Delta) => void) | undefined;
}

/** A place where people talk. Receivers only transport: they parse, hand over, and acknowledge; they decide nothing. */
export interface Channel extends AsyncDisposable, Outlet {
  readonly name: string;
  /** The same `seq` sent twice is seen once: what may have been sent can simply be sent again. */
  readonly idempotent: boolean;
  /**
   * Resolves when nothing more can come in because the input has ended, and all that came was stored or refused for
   * good, or when the channel ends. Absent: something can always come.
   */
  readonly inputEnded?: Promise<void> | undefined;
  start(accept: AcceptMessage, events?: ChannelEvents): Promise<void>;
  state(): ChannelState;
  /** Links the account, where there is one to link, or tries again after the channel had given up. */
  login?(signal: AbortSignal, options?: LoginOptions): AsyncIterable<LoginEvent>;
}

/** Why a message was not accepted, as far as the platform told. */
export class SendError extends Error {
  override readonly name = "SendError";
  /** It will never be accepted: there is no such chat, the account is blocked. */
  readonly permanent: boolean;
  /** The platform's own wish when to try again. */
  readonly retryAfterMs: number | undefined;
  /** The platform may have taken it, as when the connection was cut before it answered. */
  readonly ambiguous: boolean;

  constructor(
    message: string,
    facts: { permanent?: boolean; retryAfterMs?: number; ambiguous?: boolean; cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.permanent = facts.permanent ?? false;
    this.retryAfterMs = facts.retryAfterMs;
    this.ambiguous = facts.ambiguous ?? false;
  }
}

/**
 * A platform that is reached over a connection which can be lost. A supervisor makes a channel of it: it alone decides
 * when to connect, and never has two connections at a time. Disposed after the last connection.
 */
export interface Connector extends AsyncDisposable {
  readonly name: string;
  readonly idempotent: boolean;
  /**
   * Resolves when the platform can be talked to; rejects when not, soon after the signal aborted at the latest, and
   * then leaves nothing open. A rejection with a `ConnectionEnd` says what to do next; any other is a reason to try
   * again.
   */
  connect(host: ConnectionHost, signal: AbortSignal): Promise<Connection>;
  /**
   * Links the account; ends when it is, and at once if it was already. Called only while there is no connection.
   * Rejects with the reason when it did not work; when it has ended, nothing of it is open.
   */
  link?(options: LoginOptions, signal: AbortSignal): AsyncIterable<LoginEvent>;
}

/** Disposing it closes it; when that has resolved, nothing of it is open, listens or will ever call the host again. */
export interface Connection extends AsyncDisposable, Outlet {
  /** Resolves when the connection is gone by itself, with the reason: a `ConnectionEnd` where more is known. */
  readonly ended: Promise<Error>;
  /** What people should know of it while it is open. */
  readonly remark?: string | undefined;
  /**
   * A cheap question that only a live platform answers; asked after a long silence. Rejects when there is no answer.
   */
  probe?(signal: AbortSignal): Promise<void>;
}

/** What a connection is made with. */
export interface ConnectionHost {
  readonly accept: AcceptMessage;
  /** Undefined: nobody wants to know of reactions. */
  readonly reacted?: TakeReaction | undefined;
  /** Something that is no message has come: the platform is alive. */
  heard(): void;
  delivered(seq: number): void;
  chatChanged?(facts: ChatFacts): void;
  /** It works only partly, for this reason; undefined: fully again. */
  degraded(reason: string | undefined): void;
}

/**
 * How a connection ended. `lost`: try again, ever later. `restart`: the platform wants a new one at once. `conflict`:
 * another session took over. `logged-out`: the account has to be linked again. `closed`: for good.
 */
export class ConnectionEnd extends Error {
  override readonly name = "ConnectionEnd";
  readonly kind: "lost" | "restart" | "conflict" | "logged-out" | "closed";
  readonly retryAfterMs: number | undefined;
  /** Somebody has to be told; unless it says otherwise, of everything that a new try does not mend. */
  readonly isAlarm: boolean;

  constructor(
    kind: ConnectionEnd["kind"],
    message: string,
    facts: { retryAfterMs?: number | undefined; isAlarm?: boolean; cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.retryAfterMs = facts.retryAfterMs;
    this.isAlarm = facts.isAlarm ?? (kind !== "lost" && kind !== "restart");
  }
}
