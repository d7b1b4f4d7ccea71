import type { Origin } from "../people/origin.ts";
import type { VoiceMessage } from "../settings/speech.ts";

/**
 * A person in a chat. `id` is the channel's stable id and the only thing authority is tied to; `name` is what people
 * see and anybody may choose.
 */
export interface Sender {
  readonly id: string;
  readonly name: string;
}

/** The message that a message replies to, as a channel hands it over: what the sender's client says of it. */
export interface Quote {
  readonly id: string;
  /** Id of the claimed author. */
  readonly author?: string | undefined;
  readonly text?: string | undefined;
  /** The channel itself sent it, whatever the sender's client says. */
  readonly toAgent?: boolean | undefined;
  /** Its number in the outbox, where the channel knows which of the host's messages it is. */
  readonly seq?: number | undefined;
}

/** The message that a message replies to, as the store has it; see `verifyQuote`. */
export interface StoredQuote {
  readonly id: string;
  /** Its author, who said exactly this. Absent: nobody is known to have said it, and it is the words of who quotes. */
  readonly author?: Sender | "agent" | undefined;
  readonly text?: string | undefined;
  /** Origins of the agent's words. */
  readonly origins?: readonly Origin[] | undefined;
}

export type AttachmentKind = "image" | "audio" | "video" | "document";

/** A file that comes with a message. All that it says of itself is the sender's word, and hostile. */
export interface IncomingAttachment {
  readonly kind: AttachmentKind;
  readonly name?: string | undefined;
  readonly mimeType: string;
  /** Announced size; `fetch` counts the real one. */
  readonly bytes?: number | undefined;
  /** Writes the content to a new file at `path`. Rejects when there is more than `limitBytes` or it cannot be had. */
  fetch(path: string, limitBytes: number, signal: AbortSignal): Promise<void>;
}

/** Result of transcribing a recording. */
export interface HeardSound {
  /** Length of the recording. */
  readonly seconds?: number | undefined;
  /** True when the message's text is a transcript made by a program. */
  readonly transcribed?: boolean | undefined;
  /** Reason why nothing was heard, as the end of a sentence. */
  readonly failure?: string | undefined;
}

/** Outcome of an attachment: a file in the group's folder, or `failure` with the reason. */
export interface StoredAttachment {
  readonly kind: AttachmentKind;
  /** File name given by the sender. */
  readonly name?: string | undefined;
  readonly file?:
    | {
        /** Path inside the group's container. */
        readonly path: string;
        /** Type by the first bytes, whatever the sender claimed. */
        readonly mimeType: string;
        readonly bytes: number;
        /** Hash of the original image, when models can be shown it. */
        readonly sha256?: string | undefined;
      }
    | undefined;
  readonly failure?: string | undefined;
  /** Transcription, for a recording. */
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
  /** Type by the first bytes. */
  readonly mimeType: string;
  /** Without the dot. */
  readonly extension: string;
  readonly bytes: number;
}

/** Measures and transcribes a recording. Failures are part of the result; only the signal's reason is thrown. */
export type HearSound = (
  recording: Recording,
  signal: AbortSignal,
) => Promise<Pick<FetchedAttachment, "heard" | "transcript">>;

/** A message from a channel, identified by `(channel, chat, sender.id, id)`; the text is hostile. */
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
  /** Display name of the chat, if it has one. */
  readonly chatTitle?: string | undefined;
  /**
   * When the platform says that it was sent, milliseconds since 1970; it may have waited there while the host was away.
   */
  readonly sentAt?: number | undefined;
  /** The sender passes on what somebody else said: it is no mention and no command of the sender. */
  readonly forwarded?: boolean | undefined;
  /** The channel's id of the thread; undefined outside of threads. */
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
  readonly quote: StoredQuote | undefined;
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
  /** Display name. */
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

/** The agent's current activity, as a line in the chat. */
export interface ProgressLine {
  /** Replaces the line shown earlier under this id. */
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
  /** Name of the agent that the message is from or about, in a group with several. */
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
  /** Reason of the last failed attempt. */
  readonly error?: string | undefined;
  /** Given to a channel with the trait `quotes` where the message is to quote one; it is not stored. */
  readonly quote?: OutgoingQuote | undefined;
  /** Too old to be kept: it has no text and no file anymore. */
  readonly pruned?: boolean | undefined;
}

/** Activity shown to waiting people: queued, working on their message, or neither. */
export type Sign = "queued" | "working" | "idle";
