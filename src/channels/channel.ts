import type { IncomingMessage, OutgoingMessage } from "../domain/message.ts";

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
      /** Nothing at all is taken in at present. */
      readonly stopped: boolean;
    };

/** Why a message was not taken, for programs. */
export type RefusalCode =
  | "stopping"
  | "disk-full"
  | "store-failed"
  | "audit-failed"
  | "queue-full"
  | "all-queues-full"
  | "sender-rate"
  | "too-long";

/** Are messages taken in? If not, why. */
export type IntakeState =
  | { readonly open: true }
  | { readonly open: false; readonly code: RefusalCode; readonly reason: string };

/** Stores a message and decides about it. Resolves after the message is on disk; rejects only when the store failed. */
export type AcceptMessage = (message: IncomingMessage) => Promise<Receipt>;

/** `connecting`, `open`, `degraded` (works partly), `closed` (ended or refused; `detail` says why). */
export interface ChannelState {
  readonly state: "connecting" | "open" | "degraded" | "closed";
  readonly since: number;
  readonly detail?: string | undefined;
}

/**
 * A place where people talk. Receivers only transport: they parse, hand over, and acknowledge; they decide nothing.
 * `send` resolves when the platform has accepted the message and rejects when it has not; the outbox calls it for one
 * message of a chat at a time and may call it again with the same `seq` after a failure.
 */
export interface Channel extends AsyncDisposable {
  readonly name: string;
  start(accept: AcceptMessage): Promise<void>;
  send(message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  state(): ChannelState;
}
