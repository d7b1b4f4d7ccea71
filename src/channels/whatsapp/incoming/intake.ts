import type { Logger } from "pino";

import type { IncomingAttachment, IncomingMessage, Quote, Sender } from "../../../domain/chats/message.ts";
import { toError } from "../../../lib/app-error.ts";
import { backoffMs } from "../../../lib/time/backoff.ts";
import type { Sleep } from "../../../lib/time/sleep.ts";
import type { ChannelStateStore } from "../../../stores/contract/store.ts";
import type { SamePerson } from "../../define-channel.ts";
import type { AcceptMessage, Receipt, TakeReaction } from "../../channel.ts";
import { isGroupChat, isSame, userOf } from "../jids.ts";
import type { SeqOf } from "../outgoing/message-id.ts";
import { type Directory, displayOf } from "./directory.ts";
import type { Account, Arrival, GroupFacts, MediaReference } from "../../../processes/message-schemas.ts";

export interface IntakeOptions {
  readonly channel: string;
  readonly assistantName: () => string;
  readonly accept: AcceptMessage;
  readonly reacted?: TakeReaction | undefined;
  readonly seqOf: SeqOf;
  /** True for a line of ours about what the agent is doing. */
  readonly isProgress: (id: string) => boolean;
  readonly account: () => Account | undefined;
  readonly directory: Directory;
  /** These are ids of one person each. */
  readonly learn: (pairs: readonly SamePerson[]) => Promise<void>;
  /** Resolves when the sender's ids are known, as far as possible. */
  readonly settle: (sender: string) => Promise<void>;
  readonly journal: { readonly store: ChannelStateStore; readonly space: string };
  /** Asks the platform about a group. */
  readonly group: (chat: string) => Promise<GroupFacts | undefined>;
  readonly fetchMedia: (media: MediaReference, path: string, limitBytes: number, signal: AbortSignal) => Promise<void>;
  /** The host has it. */
  readonly taken: (arrival: Arrival) => void;
  readonly wait: Sleep;
  readonly logger: Logger;
}

const storeRetryMs = 2_000;
const longestMs = 60_000;

/**
 * The way of messages into the host: into the journal, from where the platform may forget them; then, in the order of
 * each chat, to the host; out of the journal when the host has them. What is left at an end is taken up at the next
 * start.
 */
export class WhatsAppIntake implements AsyncDisposable {
  readonly #options: IntakeOptions;
  readonly #stop = new AbortController();
  readonly #chats = new Map<string, Promise<void>>();
  readonly #open = Promise.withResolvers<void>();
  #lastEntry = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** From now on messages are handed over; before, the platform could not be asked about them. */
  open(): void {
    this.#open.resolve();
  }

  /** Takes up what an earlier connection has left. Comes before anything else. */
  async recover(): Promise<void> {
    const { store, space } = this.#options.journal;
    for (const [entry, value] of await store.list(space)) {
      this.#lastEntry = Number(entry);
      this.#hand(entry, JSON.parse(Buffer.from(value).toString("utf8")) as Arrival);
    }
  }

  /** Resolves when the message is on disk. Tries until it is: a message that is not kept must not be acknowledged. */
  async keep(arrival: Arrival): Promise<void> {
    const { journal, wait, logger } = this.#options;
    this.#lastEntry += 1;
    const entry = String(this.#lastEntry).padStart(16, "0");
    const value = Buffer.from(JSON.stringify(arrival));
    for (;;) {
      this.#stop.signal.throwIfAborted();
      try {
        await journal.store.apply(journal.space, new Map([[entry, value]]));
        this.#hand(entry, arrival);
        return;
      } catch (error) {
        logger.warn({ err: toError(error) }, "a message cannot be stored; WhatsApp keeps it");
        await wait(storeRetryMs, this.#stop.signal);
      }
    }
  }

  /** Gives up what waits; it stays in the journal. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the connection has ended"));
    this.#open.resolve();
    await Promise.all(this.#chats.values());
  }

  #hand(entry: string, arrival: Arrival): void {
    const { chat } = arrival;
    const inTurn = async (before: Promise<void> | undefined): Promise<void> => {
      await before;
      await this.#handOver(entry, arrival);
      if (this.#chats.get(chat) === handing) this.#chats.delete(chat);
    };
    const handing = inTurn(this.#chats.get(chat));
    this.#chats.set(chat, handing);
  }

  async #handOver(entry: string, arrival: Arrival): Promise<void> {
    const { journal, logger, wait } = this.#options;
    await this.#open.promise;
    for (let failures = 1; !this.#stop.signal.aborted; failures += 1) {
      try {
        const retryMs = await this.#offer(arrival);
        if (retryMs === undefined) {
          await journal.store.apply(journal.space, new Map([[entry, null]]));
          return;
        }
        await wait(backoffMs({ firstMs: retryMs, longestMs }, failures), this.#stop.signal);
      } catch (error) {
        logger.warn({ err: toError(error) }, "a message could not be handed over; retrying");
        await wait(backoffMs({ firstMs: storeRetryMs, longestMs }, failures), this.#stop.signal);
      }
    }
  }

  /** When to offer it again; undefined when the host has decided about it. */
  async #offer(arrival: Arrival): Promise<number | undefined> {
    const { directory, accept, taken, learn, settle } = this.#options;
    const { reaction, sender, senderAlias } = arrival;
    await directory.learnFrom(arrival);
    if (senderAlias !== undefined) await learn([{ id: sender, alias: senderAlias }]);
    await settle(sender);
    const receipt = reaction ? await this.#react(arrival, reaction) : await accept(await this.#toMessage(arrival));
    if (receipt.outcome === "stored" && !reaction) taken(arrival);
    if (receipt.outcome !== "refused" || receipt.retryAfterS === 0 || receipt.lasting === true) return undefined;
    return receipt.retryAfterS * 1_000;
  }

  async #react(arrival: Arrival, { message, emoji }: NonNullable<Arrival["reaction"]>): Promise<Receipt> {
    const { channel, seqOf, reacted } = this.#options;
    const { chat, id } = arrival;
    const seq = await seqOf(chat, message);
    if (seq === undefined || !reacted) return { outcome: "unknown-chat" };
    return reacted({ channel, chat, id, sender: this.#senderOf(arrival), seq, emoji });
  }

  #senderOf({ sender, senderName, senderAlias }: Arrival): Sender {
    return {
      id: sender,
      name: senderName ?? this.#options.directory.nameOf(sender) ?? displayOf(senderAlias ?? sender),
    };
  }

  /** It is ours only where we sent it, whatever the sender's client says, and not another sender's with that id. */
  async #quoteOf(chat: string, { id, author, text, toAgent }: NonNullable<Arrival["quote"]>): Promise<Quote> {
    const { seqOf, isProgress, directory } = this.#options;
    const seq = toAgent ? await seqOf(chat, id) : undefined;
    return {
      id,
      text,
      author: author === undefined ? undefined : directory.idOf(author),
      toAgent: seq !== undefined || (toAgent && isProgress(id)),
      ...(seq !== undefined && { seq }),
    };
  }

  async #toMessage(arrival: Arrival): Promise<IncomingMessage> {
    const { channel, directory } = this.#options;
    const { chat, id, quote } = arrival;
    const group = isGroupChat(chat) ? (directory.group(chat) ?? (await this.#options.group(chat))) : undefined;
    const sender = this.#senderOf(arrival);
    return {
      channel,
      chat,
      id,
      sender,
      text: this.#withNames(arrival.text, arrival.mentions),
      mention: arrival.toAgent,
      direct: !isGroupChat(chat),
      quote: quote && (await this.#quoteOf(chat, quote)),
      attachments: arrival.media.map((media) => this.#toAttachment(media)),
      chatTitle: isGroupChat(chat) ? group?.title : sender.name,
      sentAt: arrival.sentAt,
      forwarded: arrival.forwarded,
    };
  }

  /** `@4915…` as the platform writes it → `@Ann`. */
  #withNames(text: string, mentions: readonly string[]): string {
    let named = text;
    for (const person of mentions) {
      const name = this.#nameOf(person).replaceAll("$", "$$$$");
      named = named.replaceAll(new RegExp(`@${RegExp.escape(userOf(person))}(?!\\d)`, "g"), `@${name}`);
    }
    return named;
  }

  #nameOf(person: string): string {
    const { account, assistantName, directory } = this.#options;
    const me = account();
    return me && isSame(me, person) ? assistantName() : (directory.nameOf(person) ?? displayOf(person));
  }

  #toAttachment(media: MediaReference): IncomingAttachment {
    const { kind, name, mimeType, bytes } = media;
    return {
      kind,
      name,
      mimeType,
      bytes,
      fetch: (path, limitBytes, signal) => this.#options.fetchMedia(media, path, limitBytes, signal),
    };
  }
}
