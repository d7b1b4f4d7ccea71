import { generateWAMessageContent, generateWAMessageFromContent, proto } from "@whiskeysockets/baileys";
import type { AnyMessageContent, BinaryNode, WAMessage, WASocket } from "@whiskeysockets/baileys";

import type { OutgoingFile } from "../../../domain/chats/message.ts";
import { isGroupChat } from "../jids.ts";
import type { Groups } from "./groups.ts";
import type { SendOrder, SendOutcome } from "../../../processes/message-schemas.ts";

export interface SendingOptions {
  readonly socket: WASocket;
  readonly groups: Groups;
  /** Returns the message sent under an id before. */
  readonly body: (id: string) => Promise<Uint8Array | undefined>;
  /** Resolves when it is on disk: members who cannot read a message ask for it again. */
  readonly keep: (order: Pick<SendOrder, "id" | "seq">, body: Uint8Array) => Promise<void>;
  /** Aborts when the connection has ended. */
  readonly over: AbortSignal;
}

/** Longest wait for the server's word on a message. */
const ackMs = 45_000;
/** The server does not know a device or an address that the message was encrypted for. */
const staleDevices = 479;

type Ack = { readonly error: number | undefined };

/** Sends messages and tells what the server said: the library itself only tells that the bytes have left. */
export class Sending {
  readonly #options: SendingOptions;
  readonly #waiting = new Map<string, (ack: Ack) => void>();

  constructor(options: SendingOptions) {
    this.#options = options;
    options.socket.ws.on("CB:ack,class:message", ({ attrs }: BinaryNode) => {
      const { id, error } = attrs;
      if (id !== undefined) this.#waiting.get(id)?.({ error: error === undefined ? undefined : Number(error) });
    });
  }

  async send(order: SendOrder): Promise<SendOutcome> {
    const outcome = await this.#attempt(order);
    if (outcome.outcome !== "accepted") await this.#shareKeyAgain(order.chat);
    return outcome;
  }

  async #attempt(order: SendOrder): Promise<SendOutcome> {
    try {
      const message = await this.#message(order);
      const first = await this.#relay(order, message, true);
      if (first !== "cut" && first.error === staleDevices) {
        this.#options.groups.forget(order.chat);
        await this.#shareKeyAgain(order.chat);
        return describe(await this.#relay(order, message, false));
      }
      return describe(first);
    } catch (error) {
      if (this.#options.over.aborted) return { outcome: "cut" };
      return { outcome: "refused", code: codeOf(error), reason: error instanceof Error ? error.message : "it failed" };
    }
  }

  /**
   * Sends the group's encryption key with the next message again, unless this message is known to have arrived: members
   * could not read it without the key.
   */
  async #shareKeyAgain(chat: string): Promise<void> {
    if (!isGroupChat(chat)) return;
    const { keys } = this.#options.socket.authState;
    await Promise.resolve(keys.set({ "sender-key-memory": { [chat]: null } })).catch(() => undefined);
  }

  /** Returns the message made earlier for this id, or makes it. */
  async #message(order: SendOrder): Promise<proto.IMessage> {
    const kept = await this.#options.body(order.id);
    if (kept) {
      await this.#shareKeyAgain(order.chat);
      return proto.Message.decode(kept);
    }
    const { socket, groups } = this.#options;
    const content = await this.#content(order);
    const upload = socket.waUploadToServer;
    const made = await generateWAMessageContent(content, { upload, jid: order.chat });
    const ephemeralExpiration = groups.cached(order.chat)?.ephemeralDuration;
    const quoted = await this.#quoted(order);
    const { message } = generateWAMessageFromContent(order.chat, made, {
      userJid: socket.user?.id ?? "",
      messageId: order.id,
      ...(quoted && { quoted }),
      ...(ephemeralExpiration !== undefined && { ephemeralExpiration }),
    });
    if (!message) throw new Error("there is nothing to send");
    await this.#options.keep(order, proto.Message.encode(message).finish());
    return message;
  }

  async #content({ chat, content }: SendOrder): Promise<AnyMessageContent> {
    if (content.kind === "text") return { text: content.text, mentions: [...content.mentions] };
    if (content.kind === "file") return fileContent(content);
    if (content.kind === "edit") {
      return { text: content.text, edit: { remoteJid: chat, id: content.message, fromMe: true } };
    }
    return { react: { text: content.emoji, key: await this.#keyOf(chat, content) } };
  }

  async #quoted({ chat, content }: SendOrder): Promise<WAMessage | undefined> {
    const quote = content.kind === "text" || content.kind === "file" ? content.quote : undefined;
    if (!quote) return undefined;
    const key = await this.#keyOf(chat, { message: quote.id, sender: quote.sender });
    return { key, message: { conversation: quote.text } };
  }

  /** Groups name their members by LID or by phone number; the host knows people by LID. */
  async #keyOf(chat: string, { message, sender }: { message: string; sender: string }): Promise<proto.IMessageKey> {
    const key = { remoteJid: chat, id: message, fromMe: false };
    if (!isGroupChat(chat)) return key;
    const group = await this.#options.groups.facts(chat);
    const member = group?.members.find(({ lid, pn }) => lid === sender || pn === sender);
    return { ...key, participant: (group && member?.[group.addressing]) ?? sender };
  }

  async #relay({ chat, id, content }: SendOrder, message: proto.IMessage, useCaches: boolean): Promise<Ack | "cut"> {
    const answer = Promise.withResolvers<Ack | "cut">();
    const cut = (): void => answer.resolve("cut");
    const patience = setTimeout(cut, ackMs);
    this.#waiting.set(id, answer.resolve);
    this.#options.over.addEventListener("abort", cut);
    try {
      // Without the mark, phones show an edit as a message that they do not know.
      const marked = content.kind === "edit" && { additionalAttributes: { edit: "1" } };
      const options = { useUserDevicesCache: useCaches, useCachedGroupMetadata: useCaches, ...marked };
      await this.#options.socket.relayMessage(chat, message, { messageId: id, ...options });
      return await answer.promise;
    } finally {
      clearTimeout(patience);
      this.#waiting.delete(id);
      this.#options.over.removeEventListener("abort", cut);
    }
  }
}

function describe(ack: Ack | "cut"): SendOutcome {
  if (ack === "cut") return { outcome: "cut" };
  if (ack.error === undefined) return { outcome: "accepted" };
  return { outcome: "refused", code: ack.error, reason: `the server refused it with ${ack.error}` };
}

/** The number of an error that the server answered a question with. */
function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { data, output } = error as { data?: unknown; output?: { statusCode?: number } };
  return typeof data === "number" ? data : output?.statusCode;
}

type FileOrder = Extract<SendOrder["content"], { kind: "file" }>;

/** Maximum size of files that apps display; others become documents. */
const shownBytes: Readonly<Record<string, number>> = {
  "image/jpeg": 16 * 1024 * 1024,
  "image/png": 16 * 1024 * 1024,
  "video/mp4": 64 * 1024 * 1024,
};

/** Thumbnails and lengths are given, empty: the library would decode the file for them. */
function fileContent({ file, caption, mentions }: FileOrder): AnyMessageContent {
  const media = { url: file.path };
  const said = { mimetype: file.mimeType, mentions: [...mentions], ...(caption !== "" && { caption }) };
  const isShown = file.bytes <= (shownBytes[file.mimeType] ?? -1);
  if (isShown && file.mimeType.startsWith("image/")) return { image: media, jpegThumbnail: "", ...said };
  if (isShown) return { video: media, jpegThumbnail: "", ...said };
  if (file.voice) return voiceContent(file);
  if (file.mimeType.startsWith("audio/")) return { audio: media, seconds: 0, mimetype: file.mimeType };
  return { document: media, fileName: file.name, ...said };
}

/** Makes a voice message. The waveform is always present, flat when unknown. */
function voiceContent({ path, voice: { seconds = 0, waveform = [] } = {} }: OutgoingFile): AnyMessageContent {
  const loudness = Uint8Array.from({ length: 64 }, (_, at) => waveform[at] ?? 0);
  const sound = { audio: { url: path }, ptt: true, mimetype: "audio/ogg; codecs=opus", waveform: loudness };
  return { ...sound, seconds: Math.round(seconds) };
}
