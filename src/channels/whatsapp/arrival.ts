import type { AttachmentKind } from "../../domain/chats/message.ts";

/** Where the encrypted bytes of a file are and what opens them. Bytes as base64. */
export interface MediaReference {
  readonly kind: AttachmentKind;
  /** The word for this kind of file that its keys are derived with. */
  readonly keyWord: "Image" | "Video" | "Audio" | "Document";
  readonly directPath: string;
  readonly mediaKey: string;
  readonly sha256: string;
  readonly mimeType: string;
  readonly name?: string | undefined;
  readonly bytes?: number | undefined;
}

/**
 * What a member did in a chat, as the worker understood it: plain data, kept in the journal as JSON until the host has
 * it. Ids of people and chats are those of WhatsApp (`…@lid`, `…@s.whatsapp.net`, `…@g.us`), without device.
 */
export interface Arrival {
  readonly chat: string;
  readonly id: string;
  /** The LID when it is known, otherwise the phone number. */
  readonly sender: string;
  /** The other one of the two. */
  readonly senderAlias?: string | undefined;
  readonly senderName?: string | undefined;
  /** Own words of the platform for chat and sender, to answer the message with. */
  readonly address: { readonly chat: string; readonly participant?: string | undefined };
  readonly text: string;
  /** People that the text names; it says `@` and the digits of their id. */
  readonly mentions: readonly string[];
  /** It is said to the agent: it mentions the agent's account, or there is nobody else in the chat. */
  readonly toAgent: boolean;
  readonly quote?:
    | {
        readonly id: string;
        readonly author?: string | undefined;
        readonly text?: string | undefined;
        readonly toAgent: boolean;
      }
    | undefined;
  readonly media: readonly MediaReference[];
  /** It is an emoji on a message of ours, or (empty) takes one back, and says nothing else. */
  readonly reaction?: { readonly message: string; readonly emoji: string } | undefined;
  /** Passed on from another chat. */
  readonly forwarded?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly sentAt?: number | undefined;
}

/** What is known of a group. */
export interface GroupFacts {
  readonly chat: string;
  readonly title?: string | undefined;
  /** How the group itself names its members. */
  readonly addressing: "lid" | "pn";
  readonly members: readonly GroupMember[];
  /** The account is not in the group any more. */
  readonly left: boolean;
}

export interface GroupMember {
  readonly lid?: string | undefined;
  readonly pn?: string | undefined;
}

/** The account itself. */
export interface Account {
  readonly pn: string;
  readonly lid?: string | undefined;
}

/** `4915…:3@s.whatsapp.net` → `4915…` */
export function userOf(jid: string): string {
  return jid.slice(0, jid.search(/[:@]|$/));
}

/** Is this person the account? Devices of one account differ behind a colon. */
export function isSame({ pn, lid }: Account, person: string): boolean {
  const user = userOf(person);
  return user === userOf(pn) || (lid !== undefined && user === userOf(lid));
}

export function isGroupChat(chat: string): boolean {
  return chat.endsWith("@g.us");
}
