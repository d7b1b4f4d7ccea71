import type { VoiceMessage } from "../settings/speech.ts";

/**
 * A person in a chat. `id` is the channel's stable id and the only thing authority is tied to; `name` is what people
 * see and anybody may choose.
 */
export interface Sender {
  readonly id: string;
  readonly name: string;
}

/** The message that a message replies to, as far as the channel knows it. */
export interface Quote {
  readonly id: string;
  readonly author?: string | undefined;
  readonly text?: string | undefined;
  /** The channel knows that the quoted message is the agent's own. */
  readonly toAgent?: boolean | undefined;
  /** Its number in the outbox, where the channel knows which of the host's messages it is. */
  readonly seq?: number | undefined;
}

export type AttachmentKind = "image" | "audio" | "video" | "document";

/** A file that comes with a message. All that it says of itself is the sender's word, and hostile. */
export interface IncomingAttachment {
  readonly kind: AttachmentKind;
  readonly name?: string | undefined;
  readonly mimeType: string;
  /** As announced; `fetch` counts for itself. */
  readonly bytes?: number | undefined;
  /** Writes the content to a new file at `path`. Rejects when there is more than `limitBytes` or it cannot be had. */
  fetch(path: string, limitBytes: number, signal: AbortSignal): Promise<void>;
}

/** What was heard of a recording. */
export interface HeardSound {
  /** How long it is. */
  readonly seconds?: number | undefined;
  /** What is said in it stands in the message's text, as a program heard it. */
  readonly transcribed?: boolean | undefined;
  /** Why nothing was heard, as the end of a sentence. */
  readonly failure?: string | undefined;
}

/** What became of an attachment: a file in the group's folder, or (`failure`) why there is none. */
export interface StoredAttachment {
  readonly kind: AttachmentKind;
  /** What its sender calls it. */
  readonly name?: string | undefined;
  readonly file?:
    | {
        /** As the group's container sees it. */
        readonly path: string;
        /** As its first bytes say, whatever the sender said. */
        readonly mimeType: string;
        readonly bytes: number;
        /** Of an image that models can be shown: what it was when it came. */
        readonly sha256?: string | undefined;
      }
    | undefined;
  readonly failure?: string | undefined;
  /** Of a recording. */
  readonly heard?: HeardSound | undefined;
}

/** One that has just been fetched, with what is said in it. */
export interface FetchedAttachment extends StoredAttachment {
  readonly transcript?: string | undefined;
}

/** A sound that was fetched whole, in a file of the host's. */
export interface Recording {
  /** In whose chat it was sent. */
  readonly group: string;
  readonly path: string;
  /** As its first bytes say. */
  readonly mimeType: string;
  /** Without the dot. */
  readonly extension: string;
  readonly bytes: number;
}

/**
 * What is known of a recording: how long it is, and what is said in it. Whatever goes wrong is said in the result, not
 * thrown, but for the signal's reason.
 */
export type HearSound = (
  recording: Recording,
  signal: AbortSignal,
) => Promise<Pick<FetchedAttachment, "heard" | "transcript">>;

/**
 * What a channel hands over. `(channel, chat, sender.id, id)` names a message once and for all; the text is hostile.
 */
export interface IncomingMessage {
  readonly channel: string;
  readonly chat: string;
  readonly id: string;
  readonly sender: Sender;
  readonly text: string;
  /** The channel itself says that the agent was mentioned (a platform mention, not text). */
  readonly mention: boolean;
  readonly quote?: Quote | undefined;
  /** Fetched only when the chat is a group and the message is new. */
  readonly attachments?: readonly IncomingAttachment[] | undefined;
  /** The chat is one of this sender and the agent alone: whatever is said there is for the agent. */
  readonly direct?: boolean | undefined;
  /** What people call the chat, where it has a name. */
  readonly chatTitle?: string | undefined;
  /**
   * When the platform says that it was sent, milliseconds since 1970; it may have waited there while the host was away.
   */
  readonly sentAt?: number | undefined;
  /** The sender passes on what somebody else said: it is no mention and no command of the sender. */
  readonly forwarded?: boolean | undefined;
  /** Where in the chat it was said, by the channel's id; absent: in no thread. */
  readonly thread?: string | undefined;
}

/**
 * An emoji that a member puts on a message of the host's. The emoji is hostile text; `(channel, chat, sender.id, id)`
 * names it.
 */
export interface IncomingReaction {
  readonly channel: string;
  readonly chat: string;
  readonly id: string;
  readonly sender: Sender;
  /** The message that it is about, by its number in the outbox. */
  readonly seq: number;
  /** Empty: what was put there before is taken back. */
  readonly emoji: string;
}

/**
 * `context`: not for the agent, told to it at the next turn. `waiting`: for the agent, no turn has it yet. `taken`:
 * part of a running turn. `answered`: its turn ended with a reply or a notice. `handled`: a chat command, done by the
 * host.
 */
export type MessageState = "context" | "waiting" | "taken" | "answered" | "handled";

/** A message of a registered group as the store keeps it. `seq` is the order; clocks are not. */
export interface StoredMessage {
  readonly seq: number;
  readonly group: string;
  readonly channel: string;
  readonly chat: string;
  readonly id: string;
  readonly sender: Sender;
  readonly text: string;
  readonly quote: Quote | undefined;
  readonly attachments?: readonly StoredAttachment[] | undefined;
  readonly state: MessageState;
  readonly turn: string | undefined;
  /** Host time at arrival, milliseconds since 1970. */
  readonly receivedAt: number;
  /** When it was sent, where the platform says so; never after its arrival. */
  readonly sentAt?: number | undefined;
  readonly forwarded?: boolean | undefined;
  readonly thread?: string | undefined;
  /** Id of the agent that it is for, where its group had several when it came. */
  readonly agent?: string | undefined;
  /** One that is for several agents has a row for each; this is the number of the first of them. */
  readonly copyOf?: number | undefined;
  /** Too old to be kept: texts, files and the sender's name are empty. */
  readonly pruned?: boolean | undefined;
}

/** `reply`: the agent speaks. `notice`: the host itself does. */
export const outgoingKinds = ["reply", "notice"] as const;

export type OutgoingKind = (typeof outgoingKinds)[number];

/** A file on its way out: the host's own copy. */
export interface OutgoingFile {
  readonly path: string;
  /** As people see it. */
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** It is the message's text, said aloud: how long that takes and how loud it is, where it is known. */
  readonly voice?: Pick<VoiceMessage, "seconds" | "waveform"> | undefined;
}

/** An emoji on a member's message instead of a text. */
export interface OutgoingReaction {
  readonly message: string;
  readonly sender: string;
  readonly emoji: string;
}

/** What the agent is doing, in a line of its own in the chat. */
export interface ProgressLine {
  /** What was shown under the same id is replaced. */
  readonly id: string;
  readonly text: string;
  /** It is the last one: the work is over. */
  readonly over: boolean;
}

/** A message on its way out, before the outbox gave it a number. */
export interface OutgoingDraft {
  readonly group: string;
  readonly channel: string;
  readonly chat: string;
  readonly kind: OutgoingKind;
  readonly text: string;
  /** Channel ids of the messages that this one answers. */
  readonly inReplyTo: readonly string[];
  readonly turn: string | undefined;
  /** What the agent that says it, or about which it is, is called, where its group has several. */
  readonly agent?: string | undefined;
  /** The thread of the chat that it belongs to, by the channel's id; absent: none. */
  readonly thread?: string | undefined;
  /** `text` is then its caption, and may be empty. */
  readonly file?: OutgoingFile | undefined;
  readonly reaction?: OutgoingReaction | undefined;
  /** Milliseconds from the arrival of the first answered message, where there is one. */
  readonly elapsedMs?: number | undefined;
}

/** A member's message that one on its way quotes, as the channel knows it. */
export interface OutgoingQuote {
  readonly id: string;
  readonly sender: string;
  /** Its beginning. */
  readonly text: string;
}

export const outboxStates = ["queued", "sending", "accepted", "delivered", "uncertain", "dead"] as const;

export type OutboxState = (typeof outboxStates)[number];

/** A row of the outbox: written before it is sent. `seq` rises in the order of commits and is never used twice. */
export interface OutgoingMessage extends OutgoingDraft {
  readonly seq: number;
  readonly state: OutboxState;
  /** Attempts that came to an end; one that the host did not survive is not counted. */
  readonly attempts: number;
  readonly createdAt: number;
  /** When the operator put it back in line; its lifetime counts from there. */
  readonly retriedAt?: number | undefined;
  /** When the channel had it. */
  readonly acceptedAt?: number | undefined;
  /** Why it is where it is, if the last attempt failed. */
  readonly error?: string | undefined;
  /** Given to a channel with the trait `quotes` where the message is to quote one; it is not stored. */
  readonly quote?: OutgoingQuote | undefined;
  /** Too old to be kept: it has no text and no file any more. */
  readonly pruned?: boolean | undefined;
}

/** What people are shown while they wait: a place in the line, work on their message, or neither any more. */
export type Sign = "queued" | "working" | "idle";
