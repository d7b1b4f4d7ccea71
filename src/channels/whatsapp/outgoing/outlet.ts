import { randomBytes } from "node:crypto";

import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

import type { OutgoingMessage, OutgoingReaction, ProgressLine, Sign } from "../../../domain/chats/message.ts";
import { toError } from "../../../lib/app-error.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Sleep } from "../../../lib/time/sleep.ts";
import { SendError } from "../../channel.ts";
import type { Directory } from "../incoming/directory.ts";
import { sendError } from "../connection/disconnects.ts";
import { toWhatsApp } from "./markup.ts";
import type { WorkerProcess } from "../process/worker-process.ts";
import { withMentions } from "./mentions.ts";
import { idFrom, messageId } from "./message-id.ts";
import type { Pacing } from "./pacing.ts";
import type { Sent } from "./sent.ts";
import { splitText } from "./split.ts";
import type { Arrival, SendOrder, SendOutcome } from "../../../processes/message-schemas.ts";

const remembered = 2_000;

/** Recent messages: senders' addresses, to mark them as read when answered, and our own ids. */
export class Recent {
  readonly #progress = new LRUCache<string, true>({ max: remembered });
  readonly #addresses = new LRUCache<string, Arrival["address"]>({ max: remembered });
  readonly #seqs = new LRUCache<string, number>({ max: remembered });

  noteArrival({ chat, id, address }: Arrival): void {
    this.#addresses.set(`${chat} ${id}`, address);
  }

  noteProgress(id: string): void {
    this.#progress.set(id, true);
  }

  /** True for a line about the agent's activity, which is in no outbox. */
  isProgress(id: string): boolean {
    return this.#progress.has(id);
  }

  /** Each one once. */
  takeAddresses(chat: string, ids: readonly string[]): { id: string; address: Arrival["address"] }[] {
    return ids.flatMap((id) => {
      const address = this.#addresses.get(`${chat} ${id}`);
      this.#addresses.delete(`${chat} ${id}`);
      return address ? [{ id, address }] : [];
    });
  }

  noteSent(id: string, seq: number): void {
    this.#seqs.set(id, seq);
  }

  /** Once for each message: every member's phone tells that it has arrived. */
  takeSeq(id: string): number | undefined {
    const seq = this.#seqs.get(id);
    this.#seqs.delete(id);
    return seq;
  }
}

export interface OutletOptions {
  readonly line: WorkerProcess["line"];
  readonly instance: string;
  readonly sent: Sent;
  readonly recent: Recent;
  readonly directory: Directory;
  readonly pacing: Pacing;
  readonly readReceipts: boolean;
  readonly wait: Sleep;
  readonly clock: Pick<Clock, "monotonic">;
  readonly logger: Logger;
}

type Content = SendOrder["content"];

/** WhatsApp lets a message be changed for 15 minutes. */
const editableMs = 14 * 60_000;

/** Longer captions are hidden behind "read more" or cut by some apps. */
const captionChars = 1_000;

/**
 * Sends messages of the host: as many of the platform's as they need, at a person's pace, each under our own id.
 */
export class WhatsAppOutlet {
  readonly #options: OutletOptions;
  /** The messages that say what the agent is doing. */
  readonly #progress = new LRUCache<string, { readonly message: string; readonly at: number }>({ max: remembered });

  constructor(options: OutletOptions) {
    this.#options = options;
  }

  /** Parts that the server has accepted before are not sent again. */
  async send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    const { sent, recent } = this.#options;
    const contents = partsOf(message);
    await this.#markRead(message);
    for (const [index, content] of contents.entries()) {
      const id = messageId(this.#options.instance, message.seq, index);
      if (sent.isAccepted(id)) continue;
      if (index === contents.length - 1) recent.noteSent(id, message.seq);
      const { chat, seq } = message;
      await this.#sendOne({ chat, id, seq, content: this.#withMentions(message, content) }, signal);
    }
  }

  async signal(chat: string, sign: Sign): Promise<void> {
    await this.#options.line.call("typing", { chat, on: sign !== "idle" });
  }

  async react(chat: string, reaction: OutgoingReaction): Promise<void> {
    await this.#sendPassing(chat, { kind: "reaction", ...reaction });
  }

  async showProgress(chat: string, { id, text, over }: ProgressLine): Promise<void> {
    const shown = this.#progress.get(id);
    if (over) this.#progress.delete(id);
    const now = this.#options.clock.monotonic();
    if (shown && now - shown.at < editableMs) {
      await this.#sendPassing(chat, { kind: "edit", message: shown.message, text });
    } else if (!over) {
      const message = await this.#sendPassing(chat, { kind: "text", text, mentions: [] });
      if (message === undefined) return;
      this.#progress.set(id, { message, at: now });
      this.#options.recent.noteProgress(message);
    }
  }

  /** Sends a best-effort message once, or not at all under load. Returns its id once the server has it. */
  async #sendPassing(chat: string, content: Content): Promise<string | undefined> {
    if (!this.#options.pacing.takeSpare()) return undefined;
    const id = idFrom(randomBytes(9).toString("hex"));
    const { outcome } = await this.#options.line.call("send", { chat, id, content });
    return outcome === "accepted" ? id : undefined;
  }

  async #sendOne(order: SendOrder, signal: AbortSignal): Promise<void> {
    const { pacing, wait, sent, logger } = this.#options;
    await wait(pacing.take(order.chat), signal);
    if (signal.aborted) throw new SendError("its turn did not come in time", { retryAfterMs: 1_000 });
    const failure = sendError(await this.#relay(order, signal));
    if (failure) throw failure;
    await sent.accepted(order.id).catch((error: unknown) => {
      logger.warn({ err: toError(error) }, "could not store that part of a message was accepted");
    });
  }

  async #relay(order: SendOrder, signal: AbortSignal): Promise<SendOutcome> {
    const givenUp = Promise.withResolvers<SendOutcome>();
    const giveUp = (): void => givenUp.resolve({ outcome: "cut" });
    signal.addEventListener("abort", giveUp);
    try {
      const sending = this.#options.line.call("send", order).catch((): SendOutcome => ({ outcome: "cut" }));
      return await Promise.race([sending, givenUp.promise]);
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  async #markRead({ chat, inReplyTo }: OutgoingMessage): Promise<void> {
    const { readReceipts, recent, line } = this.#options;
    if (!readReceipts) return;
    const read = recent.takeAddresses(chat, inReplyTo).map(({ id, address }) => ({ ...address, id }));
    if (read.length > 0) await line.call("markRead", read).catch(() => undefined);
  }

  /** Adds mentions to the agent's messages; the host's own may quote strangers. */
  #withMentions({ chat, kind }: Pick<OutgoingMessage, "chat" | "kind">, content: Content): Content {
    if (kind === "notice") return content;
    const members = this.#options.directory.nameable(chat);
    if (content.kind === "text") return { ...content, ...withMentions(content.text, members) };
    if (content.kind === "reaction" || content.kind === "edit") return content;
    const { text: caption, mentions } = withMentions(content.caption, members);
    return { ...content, caption, mentions };
  }
}

/** Only the first one quotes: the others follow it. */
function partsOf(message: OutgoingMessage): Content[] {
  const { quote } = message;
  const [first, ...others] = unquotedPartsOf(message);
  if (!first || !quote || (first.kind !== "text" && first.kind !== "file")) return first ? [first, ...others] : [];
  return [{ ...first, quote }, ...others];
}

function unquotedPartsOf({ text, file, reaction }: OutgoingMessage): Content[] {
  if (reaction) return [{ kind: "reaction", ...reaction }];
  // Who hears it need not read it.
  if (file?.voice) return [{ kind: "file", file, caption: "", mentions: [] }];
  const said = toWhatsApp(text);
  const fits = file !== undefined && said.length <= captionChars && !file.mimeType.startsWith("audio/");
  const texts = said === "" || fits ? [] : splitText(said);
  const asText = texts.map((part): Content => ({ kind: "text", text: part, mentions: [] }));
  return file ? [{ kind: "file", file, caption: fits ? said : "", mentions: [] }, ...asText] : asText;
}
