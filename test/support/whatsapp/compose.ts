import { randomBytes } from "node:crypto";

import { proto } from "@whiskeysockets/baileys";

import type { Group } from "./groups.ts";
import type { MediaServer } from "./media.ts";
import type { Person } from "./person.ts";
import type { Addressing } from "./stanza.ts";
import type { World } from "./world.ts";

/** A file on its way through the control port. */
export interface FileToSend {
  readonly base64: string;
  readonly mimeType: string;
  readonly name?: string | undefined;
}

/** Additions to a text, which is then the caption if possible. */
export interface Extras {
  /** People who are mentioned, by name. */
  readonly mention?: readonly string[] | undefined;
  /** Naming in mentions; the group's by default. */
  readonly mentionBy?: Addressing | undefined;
  /** It is passed on from another chat. */
  readonly forwarded?: boolean | undefined;
  /** The id of a message that is answered. */
  readonly quote?: string | undefined;
  /** A quote that the sender's client made up: an author by name, and their words. */
  readonly forgedQuote?: { readonly id: string; readonly author: string; readonly text: string } | undefined;
  readonly image?: FileToSend | undefined;
  readonly video?: FileToSend | undefined;
  readonly voice?: FileToSend | undefined;
  readonly document?: FileToSend | undefined;
  readonly location?: { readonly latitude: number; readonly longitude: number; readonly name: string } | undefined;
  readonly contact?: { readonly name: string; readonly phone: string } | undefined;
  /** The text is the emoji, this the id of the message that it is for. */
  readonly reactTo?: string | undefined;
  /** The id of the message that the text replaces. */
  readonly edit?: string | undefined;
  /** The id of the message to delete. */
  readonly delete?: string | undefined;
  /** The text is the question. */
  readonly poll?: readonly string[] | undefined;
  /** Announces that many images of an album, which then come with `albumOf`. */
  readonly album?: number | undefined;
  readonly albumOf?: string | undefined;
  /** Something that no client of today knows. */
  readonly unknown?: boolean | undefined;
}

/** A chat. */
export type Chat = Group | Person;

/** Content that this program's protobuf definitions have no field for: number 1900, a string. */
const unknownField = Buffer.concat([Buffer.from([0xe2, 0x76, 3]), Buffer.from("new")]);

/** Turns what somebody says into the bytes that are encrypted. */
export class Composer {
  readonly #world: World;
  readonly #media: MediaServer;

  constructor(world: World, media: MediaServer) {
    this.#world = world;
    this.#media = media;
  }

  async compose(speaker: Person, chat: Chat, text: string, extras: Extras): Promise<Uint8Array> {
    if (extras.unknown) return unknownField;
    const message =
      this.#aboutAnother(speaker, chat, text, extras) ??
      (await this.#withFile(chat, text, extras)) ??
      this.#plain(chat, text, extras);
    return proto.Message.encode(proto.Message.fromObject(message)).finish();
  }

  #aboutAnother(speaker: Person, chat: Chat, text: string, extras: Extras): proto.IMessage | undefined {
    const { Type } = proto.Message.ProtocolMessage;
    if (extras.reactTo !== undefined) {
      const key = this.#keyOf(speaker, chat, extras.reactTo);
      return { reactionMessage: { key, text, senderTimestampMs: Date.now() } };
    }
    if (extras.edit !== undefined) {
      const key = this.#keyOf(speaker, chat, extras.edit);
      const editedMessage = { conversation: text };
      return { protocolMessage: { key, type: Type.MESSAGE_EDIT, editedMessage, timestampMs: Date.now() } };
    }
    if (extras.delete !== undefined) {
      return { protocolMessage: { key: this.#keyOf(speaker, chat, extras.delete), type: Type.REVOKE } };
    }
    return undefined;
  }

  async #withFile(chat: Chat, text: string, extras: Extras): Promise<proto.IMessage | undefined> {
    const context = this.#context(chat, extras);
    const caption = text === "" ? {} : { caption: text };
    const { image, video, voice, document } = extras;
    if (image) {
      const imageMessage = { ...(await this.#stored("image", image)), ...caption, ...context };
      return { imageMessage, ...this.#albumPart(chat, extras.albumOf) };
    }
    if (video) return { videoMessage: { ...(await this.#stored("video", video)), ...caption, ...context } };
    if (voice) return { audioMessage: { ...(await this.#stored("audio", voice)), ptt: true, seconds: 3, ...context } };
    if (!document) return undefined;
    const fileName = document.name ?? "document";
    const documentMessage = { ...(await this.#stored("document", document)), fileName, ...caption, ...context };
    return text === "" ? { documentMessage } : { documentWithCaptionMessage: { message: { documentMessage } } };
  }

  #plain(chat: Chat, text: string, extras: Extras): proto.IMessage {
    const { location, contact, poll, album } = extras;
    if (location) {
      const { latitude, longitude, name } = location;
      return { locationMessage: { degreesLatitude: latitude, degreesLongitude: longitude, name } };
    }
    if (contact) {
      const vcard = `BEGIN:VCARD\nVERSION:3.0\nFN:${contact.name}\nTEL;type=CELL:${contact.phone}\nEND:VCARD`;
      return { contactMessage: { displayName: contact.name, vcard } };
    }
    if (poll) {
      const options = poll.map((optionName) => ({ optionName }));
      const messageContextInfo = { messageSecret: randomBytes(32) };
      return { pollCreationMessageV3: { name: text, options, selectableOptionsCount: 1 }, messageContextInfo };
    }
    if (album !== undefined) return { albumMessage: { expectedImageCount: album, expectedVideoCount: 0 } };
    const context = this.#context(chat, extras);
    return context.contextInfo ? { extendedTextMessage: { text, ...context } } : { conversation: text };
  }

  async #stored(type: "image" | "video" | "audio" | "document", file: FileToSend): Promise<object> {
    const reference = await this.#media.store(type, Buffer.from(file.base64, "base64"));
    return { ...reference, mimetype: file.mimeType };
  }

  #albumPart(chat: Chat, parent: string | undefined): Pick<proto.IMessage, "messageContextInfo"> {
    if (parent === undefined) return {};
    const parentMessageKey = { remoteJid: "id" in chat ? chat.id : chat.jid("lid"), fromMe: true, id: parent };
    const associationType = proto.MessageAssociation.AssociationType.MEDIA_ALBUM;
    return { messageContextInfo: { messageAssociation: { associationType, parentMessageKey } } };
  }

  #context(chat: Chat, extras: Extras): { contextInfo?: proto.IContextInfo } {
    const addressing = "addressing" in chat ? chat.addressing : "lid";
    const { mention = [], forwarded } = extras;
    const quoted = this.#quoted(extras);
    if (mention.length === 0 && !quoted && forwarded !== true) return {};
    const mentionedJid = mention.map((name) => this.#world.named(name).jid(extras.mentionBy ?? addressing));
    const marks = forwarded === true ? { isForwarded: true, forwardingScore: 1 } : {};
    if (!quoted) return { contextInfo: { mentionedJid, ...marks } };
    const { id, author, text } = quoted;
    const quotedMessage = { conversation: text };
    return { contextInfo: { mentionedJid, stanzaId: id, participant: author.jid(addressing), quotedMessage } };
  }

  #quoted({ quote, forgedQuote }: Extras): { id: string; author: Person; text: string } | undefined {
    if (forgedQuote) return { ...forgedQuote, author: this.#world.named(forgedQuote.author) };
    if (quote === undefined) return undefined;
    const { author, text } = this.#world.find(quote);
    return { id: quote, author, text };
  }

  /** A message as somebody in the chat refers to it. */
  #keyOf(speaker: Person, chat: Chat, id: string): proto.IMessageKey {
    const { author } = this.#world.find(id);
    const fromMe = author === speaker;
    if ("addressing" in chat) return { remoteJid: chat.id, fromMe, id, participant: author.jid(chat.addressing) };
    return { remoteJid: chat.jid("lid"), fromMe, id };
  }
}
