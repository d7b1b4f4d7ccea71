import type { AcceptMessage, Channel, ChannelState, Receipt } from "../../src/channels/channel.ts";
import type { IncomingMessage, OutgoingMessage } from "../../src/domain/message.ts";

export type Said = Partial<Omit<IncomingMessage, "channel" | "chat" | "text" | "sender">> & {
  readonly sender?: string;
};

/** A channel whose people are the test: `say` as a member of a chat, see what was `heard` there. */
export class FakeChannel implements Channel {
  readonly name: string;
  /** Every call of `send`, in order, those that failed or were repeated included. */
  readonly attempts: OutgoingMessage[] = [];
  readonly #delivered: OutgoingMessage[] = [];
  #accept: AcceptMessage | undefined;
  #state: ChannelState = { state: "connecting", since: 0 };
  #failures: Error[] = [];
  #held: Promise<void> | undefined;
  #said = 0;
  readonly #accepting = new Set<Promise<Receipt>>();

  constructor(name = "fake") {
    this.name = name;
  }

  async start(accept: AcceptMessage): Promise<void> {
    this.#accept = accept;
    this.#state = { state: "open", since: 1 };
  }

  /** Says something in a chat; without an id of its own the message gets a new one. */
  async say(chat: string, text: string, said: Said = {}): Promise<Receipt> {
    if (!this.#accept) return { outcome: "refused", reason: "the channel is closed", retryAfterS: 1, stopped: true };
    this.#said += 1;
    const { sender = "anna", id = `said-${this.#said}`, mention = false, quote } = said;
    const from = { id: sender, name: sender };
    const accepting = this.#accept({ channel: this.name, chat, id, sender: from, text, mention, quote });
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

  /** The next so many sends are refused. */
  failNextSends(count: number, reason = "the platform is down"): void {
    this.#failures = Array.from({ length: count }, () => new Error(reason));
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
    if (failure) throw failure;
    if (!this.#delivered.some((delivered) => delivered.seq === message.seq)) this.#delivered.push(message);
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
