import { proto } from "@whiskeysockets/baileys";
import type { MediaReference } from "../../../processes/message-schemas.ts";

/** Text of a message of any kind; undefined for kinds without any for people. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaReference[];
  readonly context?: proto.IContextInfo | null | undefined;
}

type Message = proto.IMessage;
type IsOwn = (key: proto.IMessageKey) => boolean;

/** Reads a message without its wrappers. `isOwn` tells whether a key names one of our messages. */
export function readContent(message: Message, isOwn: IsOwn): Content | undefined {
  const said = readSaid(message) ?? readMedia(message) ?? readShared(message);
  if (said) return said;
  return message.protocolMessage ? readChange(message.protocolMessage, isOwn) : undefined;
}

function readSaid({ conversation, extendedTextMessage: extended }: Message): Content | undefined {
  if (conversation) return { text: conversation, media: [] };
  if (extended?.text) return { text: extended.text, media: [], context: extended.contextInfo };
  return undefined;
}

function readMedia(message: Message): Content | undefined {
  const { imageMessage: image, videoMessage: video, audioMessage: audio, documentMessage: document } = message;
  const { stickerMessage: sticker, ptvMessage: round } = message;
  if (image) return withFile(image, "image", "Image");
  if (video) return withFile(video, "video", "Video");
  if (round) return withFile(round, "video", "Video");
  if (audio) return withFile(audio, "audio", "Audio");
  if (sticker) return withFile(sticker, "image", "Image");
  return document ? withFile(document, "document", "Document") : undefined;
}

interface FileMessage {
  readonly caption?: string | null;
  readonly fileName?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly mimetype?: string | null;
  readonly fileLength?: number | { toNumber(): number } | null;
  readonly contextInfo?: proto.IContextInfo | null;
}

function withFile(file: FileMessage, kind: MediaReference["kind"], keyWord: MediaReference["keyWord"]): Content {
  const { caption, directPath, mediaKey, fileSha256, mimetype, fileLength, contextInfo } = file;
  const text = caption ?? "";
  if (!directPath || !mediaKey || !fileSha256) return { text, media: [], context: contextInfo };
  const reference: MediaReference = {
    kind,
    keyWord,
    directPath,
    mediaKey: base64(mediaKey),
    sha256: base64(fileSha256),
    mimeType: mimetype ?? "application/octet-stream",
    name: file.fileName ?? undefined,
    bytes: typeof fileLength === "object" ? fileLength?.toNumber() : fileLength,
  };
  return { text, media: [reference], context: contextInfo };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Contacts and places, as text. */
function readShared(message: Message): Content | undefined {
  const {
    contactMessage: contact,
    contactsArrayMessage: several,
    locationMessage: place,
    liveLocationMessage: live,
  } = message;
  const contacts = contact ? [contact] : (several?.contacts ?? []);
  if (contacts.length > 0) {
    const context = contact?.contextInfo ?? several?.contextInfo;
    return { text: `[shared ${contacts.map(describeContact).join("; ")}]`, media: [], context };
  }
  if (place) {
    const { name, address, degreesLatitude, degreesLongitude, contextInfo } = place;
    const where = [name, address, coordinates(degreesLatitude, degreesLongitude)].filter(Boolean).join(", ");
    return { text: `[shared the location ${where}]`, media: [], context: contextInfo };
  }
  if (!live) return undefined;
  const where = coordinates(live.degreesLatitude, live.degreesLongitude);
  const text = [`[shares a live location, at first ${where}]`, live.caption].filter(Boolean).join(" ");
  return { text, media: [], context: live.contextInfo };
}

function describeContact({ displayName, vcard }: proto.Message.IContactMessage): string {
  const numbers = [...(vcard ?? "").matchAll(/^(?:item\d+\.)?(?:TEL|EMAIL)[^:\r\n]*:(.+)$/gim)].map(([, value]) =>
    value?.trim(),
  );
  return [`the contact ${displayName ?? "without a name"}`, ...numbers.slice(0, 10)].join(", ");
}

function coordinates(latitude: number | null | undefined, longitude: number | null | undefined): string {
  return `${(latitude ?? 0).toFixed(5)} ${(longitude ?? 0).toFixed(5)}`;
}

function readChange(change: proto.Message.IProtocolMessage, isOwn: IsOwn): Content | undefined {
  if (!change.key) return undefined;
  const which = nameMessage(change.key, isOwn);
  if (change.type === changes.REVOKE) return { text: `[deleted ${which}]`, media: [] };
  if (change.type !== changes.MESSAGE_EDIT || !change.editedMessage) return undefined;
  const edited = readSaid(change.editedMessage) ?? readMedia(change.editedMessage);
  return edited && { ...edited, text: `[edited ${which}, which says now:] ${edited.text}`, media: [] };
}

const changes = proto.Message.ProtocolMessage.Type;

function nameMessage(key: proto.IMessageKey, isOwn: IsOwn): string {
  return isOwn(key) ? "a message of yours" : `the message ${key.id ?? ""}`;
}
