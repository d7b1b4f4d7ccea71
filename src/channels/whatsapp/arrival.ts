import type { AttachmentKind } from "../../domain/chats/message.ts";

/** Location and key of an encrypted file. Bytes as base64. */
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
 * A member's act in a chat, as understood by the worker: plain data, kept in the journal as JSON until the host has it.
 * Ids are WhatsApp's (`…@lid`, `…@s.whatsapp.net`, `…@g.us`), without device.
 */
export interface Arrival {
  readonly chat: string;
  readonly id: string;
  /** The LID when it is known, otherwise the phone number. */
  readonly sender: string;
  /** The sender's other id. */
  readonly senderAlias?: string | undefined;
  readonly senderName?: string | undefined;
  /** The platform's addresses of chat and sender, for answers. */
  readonly address: { readonly chat: string; readonly participant?: string | undefined };
  readonly text: string;
  /** People that the text names; it says `@` and the digits of their id. */
  readonly mentions: readonly string[];
  /** True when it mentions the agent's account, or the chat has nobody else. */
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
  /** A reaction to one of our messages; an empty emoji takes it back. */
  readonly reaction?: { readonly message: string; readonly emoji: string } | undefined;
  /** True when forwarded from another chat. */
  readonly forwarded?: boolean | undefined;
  /** Time of sending, in milliseconds since 1970. */
  readonly sentAt?: number | undefined;
}

/** Known facts about a group. */
export interface GroupFacts {
  readonly chat: string;
  readonly title?: string | undefined;
  /** Kind of ids that the group uses for members. */
  readonly addressing: "lid" | "pn";
  readonly members: readonly GroupMember[];
  /** True when the account is no longer in the group. */
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

/** True when this person is the account; devices of one account differ behind a colon. */
export function isSame({ pn, lid }: Account, person: string): boolean {
  const user = userOf(person);
  return user === userOf(pn) || (lid !== undefined && user === userOf(lid));
}

export function isGroupChat(chat: string): boolean {
  return chat.endsWith("@g.us");
}
