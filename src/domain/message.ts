/** A person in a chat. `id` is the channel's stable id and the only thing authority is tied to; `name` is what people see and anybody may choose. */
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
}

/** What a channel hands over. `(channel, chat, sender.id, id)` names a message once and for all; the text is hostile. */
export interface IncomingMessage {
  readonly channel: string;
  readonly chat: string;
  readonly id: string;
  readonly sender: Sender;
  readonly text: string;
  /** The channel itself says that the agent was mentioned (a platform mention, not text). */
  readonly mention: boolean;
  readonly quote?: Quote | undefined;
}

/**
 * `context`: not for the agent, told to it at the next turn. `waiting`: for the agent, no turn has it yet.
 * `taken`: part of a running turn. `answered`: its turn ended with a reply or a notice. `handled`: a chat command, done by the host.
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
  readonly state: MessageState;
  readonly turn: string | undefined;
  /** Host time at arrival, milliseconds since 1970. */
  readonly receivedAt: number;
}

/** `reply`: the agent speaks. `notice`: the host itself does. */
export type OutgoingKind = "reply" | "notice";

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
  /** Milliseconds from the arrival of the first answered message, where there is one. */
  readonly elapsedMs?: number | undefined;
}

export type OutboxState = "queued" | "sending" | "accepted" | "delivered" | "uncertain" | "dead";

/** A row of the outbox: written before it is sent. `seq` rises in the order of commits and is never used twice. */
export interface OutgoingMessage extends OutgoingDraft {
  readonly seq: number;
  readonly state: OutboxState;
  /** Attempts that came to an end; one that the host did not survive is not counted. */
  readonly attempts: number;
  readonly createdAt: number;
  /** When the operator put it back in line; its lifetime counts from there. */
  readonly retriedAt?: number | undefined;
  /** Why it is where it is, if the last attempt failed. */
  readonly error?: string | undefined;
}

/** What people are shown while they wait: a place in the line, work on their message, or neither any more. */
export type Sign = "queued" | "working" | "idle";

/**
 * What members can ask of the host in the chat, without the model. `stop`: end the running turn and forget what waits.
 * `new`: a new conversation. `status`: what is going on.
 */
export type ChatCommand = "stop" | "new" | "status";
