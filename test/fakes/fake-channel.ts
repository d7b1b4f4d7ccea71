import { SendError } from "../../src/channels/channel.ts";
import type {
  AcceptMessage,
  Channel,
  ChannelEvents,
  ChannelState,
  ChatFacts,
  Receipt,
} from "../../src/channels/channel.ts";
import type { IncomingMessage, IncomingReaction, OutgoingMessage } from "../../src/domain/chats/message.ts";

export type Said = Partial<Omit<IncomingMessage, "channel" | "chat" | "text" | "sender">> & {
  readonly sender?: string;
};

export type Reacted = Pick<IncomingReaction, "id" | "seq" | "emoji"> & { readonly sender: string };

/** A channel whose people are the test: `say` as a member of a chat, see what was `heard` there. */
export class FakeChannel implements Channel {
  readonly name: string;
  /** One that is not shows a message as often as it was sent. */
  readonly idempotent: boolean;
  /** Set it to make the channel one that can be asked. */
  reconcile?: NonNullable<Channel["reconcile"]>;
  /** Every call of `send`, in order, those that failed or were repeated included. */
  readonly attempts: OutgoingMessage[] = [];
  readonly #delivered: OutgoingMessage[] = [];
  #accept: AcceptMessage | undefined;
  #events: ChannelEvents | undefined;
  #state: ChannelState = { state: "connecting", since: 0 };
  #failures: Error[] = [];
  #takesCut = false;
  #held: Promise<void> | undefined;
  #said = 0;
  readonly #accepting = new Set<Promise<Receipt>>();

  constructor(name = "fake", idempotent = true) {
    this.name = name;
    this.idempotent = idempotent;
  }

  async start(accept: AcceptMessage, events?: ChannelEvents): Promise<void> {
    this.#accept = accept;
    this.#events = events;
    this.#state = { state: "open", since: 1 };
  }

  /** Says something in a chat; without its own id the message gets a new one. */
  async say(chat: string, text: string, said: Said = {}): Promise<Receipt> {
    if (!this.#accept) return { outcome: "refused", reason: "the channel is closed", retryAfterS: 1, stopped: true };
    this.#said += 1;
    const { sender = "anna", id = `said-${this.#said}`, mention = false, ...more } = said;
    const from = { id: sender, name: sender };
    return this.#whileOpen(this.#accept({ ...more, channel: this.name, chat, id, sender: from, text, mention }));
  }

  /** Puts an emoji on what the host has said in a chat. */
  async putEmoji(chat: string, { sender, ...reaction }: Reacted): Promise<Receipt> {
    const from = { id: sender, name: sender };
    const taking = this.#accept && this.#events?.reacted?.({ ...reaction, channel: this.name, chat, sender: from });
    if (!taking) return { outcome: "refused", reason: "the channel is closed", retryAfterS: 1, stopped: true };
    return this.#whileOpen(taking);
  }

  async #whileOpen(accepting: Promise<Receipt>): Promise<Receipt> {
    this.#accepting.add(accepting);
    try {
      return await accepting;
    } finally {
      this.#accepting.delete(accepting);
    }
  }

  /** The texts that arrived in a chat, each once, in order. */
  heard(chat: string): string[] {
    return this.#delivered.filter((message) => message.chat === chat).map((message) => message.text);
  }

  /** Thread and quote of the messages. */
  heardAs(chat: string): Pick<OutgoingMessage, "thread" | "quote">[] {
    const there = this.#delivered.filter((message) => message.chat === chat);
    return there.map(({ thread, quote }) => ({ thread, quote }));
  }

  /** The next this many sends are refused. */
  failNextSends(count: number, failure: Error = new Error("the platform is down")): void {
    this.#failures = Array.from({ length: count }, () => failure);
  }

  /** The connection is cut at the next this many sends, after the platform took the message or before. */
  cutNextSends(count: number, { taken }: { readonly taken: boolean }): void {
    this.#failures = Array.from({ length: count }, () => new SendError("cut", { ambiguous: true }));
    this.#takesCut = taken;
  }

  /** Does the platform have it? */
  has(seq: number): boolean {
    return this.#delivered.some((message) => message.seq === seq);
  }

  /** The platform tells that a message arrived. */
  confirm(seq: number): void {
    this.#events?.delivered(seq);
  }

  /** The platform tells something of a chat. */
  tell(facts: ChatFacts): void {
    this.#events?.chatChanged?.(facts);
  }

  /** Sends wait until the returned function is called. */
  holdSends(): () => void {
    const held = Promise.withResolvers<void>();
    this.#held = held.promise;
    return () => {
      this.#held = undefined;
      held.resolve();
    };
  }

  disconnect(): void {
    this.#state = { state: "connecting", since: 2, detail: "the connection is lost" };
  }

  connect(): void {
    this.#state = { state: "open", since: 3 };
  }

  async send(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.attempts.push(message);
    await this.#held;
    const failure = this.#failures.shift();
    const taken = !failure || (failure instanceof SendError && failure.ambiguous && this.#takesCut);
    if (taken && !(this.idempotent && this.has(message.seq))) this.#delivered.push(message);
    if (failure) throw failure;
  }

  state(): ChannelState {
    return this.#state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#accept = undefined;
    this.#state = { state: "closed", since: 4 };
    await Promise.allSettled(this.#accepting);
  }
}
