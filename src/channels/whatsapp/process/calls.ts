import type { OutgoingFile, OutgoingQuote } from "../../../domain/chats/message.ts";
import type { Account, Arrival, GroupFacts } from "../arrival.ts";

/** Which server is believed to be WhatsApp: the one with the real root key, with this one, or (for tests) any. */
export type TrustedRoot =
  | { readonly root: "real" }
  | { readonly root: "given"; readonly key: string }
  | { readonly root: "any" };

export interface StartOrder {
  /** `link`: with new keys, which are stored only when the account is linked. */
  readonly mode: "link" | "connect";
  readonly phoneNumber?: string | undefined;
  readonly webSocketUrl?: string | undefined;
  readonly trust: TrustedRoot;
  /** Of the WhatsApp Web client that we say we are. */
  readonly version?: readonly [number, number, number] | undefined;
  /** Ask WhatsApp for the newest version first. */
  readonly newestVersion: boolean;
}

/** One message of the platform. */
export interface SendOrder {
  readonly chat: string;
  /** Our own; the same one is never shown twice. */
  readonly id: string;
  /** The number in the outbox of what it is, or is a part of; absent: it is nothing that stays. */
  readonly seq?: number | undefined;
  readonly content:
    | {
        readonly kind: "text";
        readonly text: string;
        readonly mentions: readonly string[];
        readonly quote?: OutgoingQuote | undefined;
      }
    | {
        readonly kind: "file";
        readonly file: OutgoingFile;
        readonly caption: string;
        readonly mentions: readonly string[];
        readonly quote?: OutgoingQuote | undefined;
      }
    | { readonly kind: "edit"; readonly message: string; readonly text: string }
    | { readonly kind: "reaction"; readonly message: string; readonly sender: string; readonly emoji: string };
}

/**
 * What became of it. `cut`: the connection ended before the server answered. `code`: the server's, where it refused.
 */
export type SendOutcome =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "refused"; readonly code?: number | undefined; readonly reason: string }
  | { readonly outcome: "cut" };

/** Why a connection ended: the library's number, and words for people. */
export interface EndReport {
  readonly code: number;
  readonly reason: string;
  /** Seconds until the account is let in again, where the server said so. */
  readonly expireS?: number | undefined;
}

/** What the worker does for the host. */
export interface WorkerCalls {
  start(order: StartOrder): Promise<void>;
  send(order: SendOrder): Promise<SendOutcome>;
  typing(order: { readonly chat: string; readonly on: boolean }): Promise<void>;
  markRead(
    messages: readonly { readonly chat: string; readonly id: string; readonly participant?: string | undefined }[],
  ): Promise<void>;
  group(chat: string): Promise<GroupFacts | undefined>;
  /** Which LIDs these phone numbers have; numbers without one are left out. Rejects when the server does not say. */
  lidsOf(pns: readonly string[]): Promise<readonly { readonly pn: string; readonly lid: string }[]>;
  /** Hosts that files can be fetched from. */
  mediaHosts(nothing: undefined): Promise<readonly string[]>;
  probe(nothing: undefined): Promise<void>;
  end(nothing: undefined): Promise<void>;
}

/** What the host does for its worker. */
export interface HostCalls {
  heartbeat(nothing: undefined): Promise<void>;
  /** It is about to end because of an error of this kind at this place of the code; no data. */
  crashed(place: string): Promise<void>;
  qr(code: string): Promise<void>;
  pairingCode(code: string): Promise<void>;
  opened(account: Account): Promise<void>;
  ended(report: EndReport): Promise<void>;
  /** Resolves when it is on disk. */
  arrived(arrival: Arrival): Promise<void>;
  isOwn(id: string): Promise<boolean>;
  delivered(ids: readonly string[]): Promise<void>;
  groupChanged(facts: GroupFacts): Promise<void>;
  named(names: readonly { readonly person: string; readonly name: string }[]): Promise<void>;
  readKeys(keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  applyKeys(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void>;
  sentBody(id: string): Promise<Uint8Array | undefined>;
  keepSent(sent: { readonly id: string; readonly seq?: number | undefined; readonly body: Uint8Array }): Promise<void>;
  /** Something the operator may want to know; constant words of the code, no data. */
  log(entry: { readonly level: "debug" | "warn"; readonly text: string }): Promise<void>;
}
