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

/** Outcome of a message handed over by a channel. The channel tells its peer "received" only after `stored`. */
export type Receipt =
  | { readonly outcome: "stored"; readonly duplicate: boolean }
  | { readonly outcome: "unknown-chat" }
  | {
      readonly outcome: "refused";
      readonly code?: RefusalCode | undefined;
      /** For people, without a full stop. */
      readonly reason: string;
      readonly retryAfterS: number;
      /** True when it lasts for hours and the chat was told: the channel need not keep the message. */
      readonly lasting?: boolean | undefined;
      /** Nothing at all is taken in at present. */
      readonly stopped: boolean;
    };

/** Reason code of a refused message, for programs. */
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

/** State of intake, with the reason when it is closed. */
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

/** A platform's facts about a chat: when first seen and after changes. Absent means unknown. */
export interface ChatFacts {
  readonly chat: string;
  readonly title?: string | undefined;
  readonly members?: readonly Sender[] | undefined;
  /** True when the account is no longer in the chat. */
  readonly left?: boolean | undefined;
}

/** Progress of linking an account; `open` is the last event. */
export type LoginEvent =
  | { readonly qr: string }
  | { readonly pairingCode: string }
  | { readonly state: ChannelState["state"]; readonly detail?: string | undefined };

export interface LoginOptions {
  /** Phone number, digits only. Links by a code to type instead of a picture to scan, if supported. */
  readonly phoneNumber?: string | undefined;
}

/** Notifications of a channel besides messages. None of them throws. */
export interface ChannelEvents {
  /** The channel's state is this one from now on. */
  changed(state: ChannelState): void;
  /** Reports that a person must act, and why. */
  needsOperator?(reason: string): void;
  /** The platform confirms that a message which it had accepted arrived. */
  delivered(seq: number): void;
  /** Reports new facts about a chat. */
  chatChanged?(facts: ChatFacts): void;
  /**
   * Reports an emoji that a member put on a message of the host, or took back, with the trait `hearsReactions`. Unlike
   * the others, may reject.
   */
  reacted?: TakeReaction | undefined;
}

/** A platform's knowledge of a message that may have been sent. */
export type Reconciliation = "accepted" | "absent" | "unknown";

/** The sending side of a channel. */
export interface Outlet {
  /**
   * Resolves when the platform has accepted the message and rejects when it has not: with a `SendError` when more is
   * known than that. The outbox calls it for one message of a chat at a time and may call it again with the same `seq`.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  /** Looks for a message whose fate is unknown, before it is sent again. */
  reconcile?(message: OutgoingMessage, signal: AbortSignal): Promise<Reconciliation>;
  /** Shows activity to waiting people ("is typing"). Best effort. */
  signal?(chat: string, sign: Sign): Promise<void>;
  /** Puts an emoji on a member's message immediately. Best effort, like `signal`. */
  react?(chat: string, reaction: OutgoingReaction): Promise<void>;
  /** Replaces the line about the agent's activity; with the trait `edits`. Best effort, like `signal`. */
  showProgress?(chat: string, line: ProgressLine): Promise<void>;
  /**
   * Shows live output of a chat until the message comes, where only the operator talks. Must return immediately.
   * Omitted when nobody watches.
   */
  showDelta?: ((delta: Delta) => void) | undefined;
}

/** A place where people talk. Receivers only transport: they parse, hand over, and acknowledge; they decide nothing. */
export interface Channel extends AsyncDisposable, Outlet {
  readonly name: string;
  /** The same `seq` sent twice is seen once: what may have been sent can simply be sent again. */
  readonly idempotent: boolean;
  /**
   * Resolves when the input has ended and all of it was stored or refused, or when the channel ends. Absent when more
   * can always come.
   */
  readonly inputEnded?: Promise<void> | undefined;
  start(accept: AcceptMessage, events?: ChannelEvents): Promise<void>;
  state(): ChannelState;
  /** Links the account, if any, or retries after the channel gave up. */
  login?(signal: AbortSignal, options?: LoginOptions): AsyncIterable<LoginEvent>;
}

/** A failed send, as far as the platform explained it. */
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
   * Links the account; ends once linked. Called only without a connection. Rejects on failure; afterwards nothing stays
   * open.
   */
  link?(options: LoginOptions, signal: AbortSignal): AsyncIterable<LoginEvent>;
}

/** Disposing it closes it; when that has resolved, nothing of it is open, listens or will ever call the host again. */
export interface Connection extends AsyncDisposable, Outlet {
  /** Resolves when the connection is gone by itself, with the reason: a `ConnectionEnd` where more is known. */
  readonly ended: Promise<Error>;
  /** Remark for operators while it is open. */
  readonly remark?: string | undefined;
  /** Checks that the platform still answers, after a long silence. Rejects when it does not. */
  probe?(signal: AbortSignal): Promise<void>;
}

/** The host's side of a connection. */
export interface ConnectionHost {
  readonly accept: AcceptMessage;
  /** Receives reactions; undefined when not wanted. */
  readonly reacted?: TakeReaction | undefined;
  /** Something that is no message has come: the platform is alive. */
  heard(): void;
  delivered(seq: number): void;
  chatChanged?(facts: ChatFacts): void;
  /** Reports a partial failure with its reason, or with undefined its end. */
  degraded(reason: string | undefined): void;
}

/**
 * End of a connection. `lost`: reconnect with back-off. `restart`: reconnect now. `conflict`: another session took
 * over. `logged-out`: link the account again. `closed`: for good.
 */
export class ConnectionEnd extends Error {
  override readonly name = "ConnectionEnd";
  readonly kind: "lost" | "restart" | "conflict" | "logged-out" | "closed";
  readonly retryAfterMs: number | undefined;
  /** True when the operator must be told; by default for everything that a reconnect does not fix. */
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
