import { proto } from "@whiskeysockets/baileys";
import type { MediaType } from "@whiskeysockets/baileys";

/** A message as a phone shows it, as far as tests ask. */
export interface Content {
  readonly kind:
    | "text"
    | "image"
    | "video"
    | "audio"
    | "voice"
    | "document"
    | "location"
    | "contact"
    | "reaction"
    | "edit"
    | "delete"
    | "other";
  /** The text, the caption, the emoji, or what kind of other thing it is. */
  readonly text: string;
  /** The ids of who is mentioned. */
  readonly mentions: readonly string[];
  /** The message that it answers, reacts to, edits or deletes. */
  readonly about: string | undefined;
  /** The quoted message and its claimed author. */
  readonly quoted?: { readonly text: string; readonly author: string };
  readonly file:
    | {
        readonly name: string | undefined;
        readonly mimeType: string;
        /** Length of a sound. */
        readonly seconds?: number;
        readonly waveform?: readonly number[];
      }
    | undefined;
}

/** A file of a message, with what is needed to open it. */
export interface FileContent {
  readonly type: MediaType;
  readonly kind: Content["kind"];
  readonly message:
    | proto.Message.IImageMessage
    | proto.Message.IVideoMessage
    | proto.Message.IAudioMessage
    | proto.Message.IDocumentMessage;
}

const nothing = { text: "", mentions: [], about: undefined, file: undefined } as const;

/** Content of a decrypted message. */
export function contentOf(outer: proto.IMessage): Content {
  const message = outer.documentWithCaptionMessage?.message ?? outer.editedMessage?.message ?? outer;
  const { reactionMessage: reaction, protocolMessage, conversation, extendedTextMessage: extended } = message;
  if (reaction) return { ...nothing, kind: "reaction", text: reaction.text ?? "", about: idOf(reaction.key) };
  if (protocolMessage) return protocolContent(protocolMessage);
  if (conversation) return { ...nothing, kind: "text", text: conversation };
  if (extended) return { ...nothing, kind: "text", text: extended.text ?? "", ...contextOf(extended.contextInfo) };
  return fileOrOther(message);
}

/** The file of a message, if it has one. */
export function fileOf(outer: proto.IMessage): FileContent | undefined {
  const message = outer.documentWithCaptionMessage?.message ?? outer;
  const { imageMessage, videoMessage, audioMessage, documentMessage } = message;
  if (imageMessage) return { type: "image", kind: "image", message: imageMessage };
  if (videoMessage) return { type: "video", kind: "video", message: videoMessage };
  if (audioMessage) return { type: "audio", kind: audioMessage.ptt ? "voice" : "audio", message: audioMessage };
  if (documentMessage) return { type: "document", kind: "document", message: documentMessage };
  return undefined;
}

function fileOrOther(message: proto.IMessage): Content {
  const file = fileOf(message);
  if (file) return fileContent(file);
  if (message.locationMessage) return { ...nothing, kind: "location", text: message.locationMessage.name ?? "" };
  if (message.contactMessage) return { ...nothing, kind: "contact", text: message.contactMessage.displayName ?? "" };
  const kinds = Object.keys(message).filter((name) => name !== "messageContextInfo");
  return { ...nothing, kind: "other", text: kinds.join(" ") };
}

function fileContent({ kind, type, message: about }: FileContent): Content {
  const name = ("fileName" in about ? about.fileName : undefined) ?? undefined;
  const length = type === "audio" && "seconds" in about ? { seconds: about.seconds ?? 0 } : {};
  const drawn = "waveform" in about ? { waveform: [...(about.waveform ?? [])] } : {};
  return {
    ...nothing,
    kind,
    text: ("caption" in about ? about.caption : undefined) ?? "",
    file: { name, mimeType: about.mimetype ?? "", ...length, ...drawn },
    ...contextOf(about.contextInfo),
  };
}

function protocolContent(protocol: proto.Message.IProtocolMessage): Content {
  const about = idOf(protocol.key);
  const { Type } = proto.Message.ProtocolMessage;
  if (protocol.type === Type.REVOKE) return { ...nothing, kind: "delete", about };
  if (protocol.type === Type.MESSAGE_EDIT && protocol.editedMessage) {
    return { ...contentOf(protocol.editedMessage), kind: "edit", about };
  }
  return { ...nothing, kind: "other", text: `protocol ${String(protocol.type)}` };
}

function idOf(key: proto.IMessageKey | null | undefined): string | undefined {
  return key?.id ?? undefined;
}

function contextOf(context: proto.IContextInfo | null | undefined): Pick<Content, "mentions" | "about" | "quoted"> {
  const { mentionedJid, stanzaId, participant, quotedMessage } = context ?? {};
  const quoted = quotedMessage && { text: contentOf(quotedMessage).text, author: participant ?? "" };
  return { mentions: mentionedJid ?? [], about: stanzaId ?? undefined, ...(quoted && { quoted }) };
}
