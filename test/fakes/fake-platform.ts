import type { Connection, ConnectionHost, Connector, LoginEvent, Receipt } from "../../src/channels/channel.ts";
import type { OutgoingMessage } from "../../src/domain/chats/message.ts";

/** Reaction of the platform to a connection. `deaf`: hangs, ignoring the signal, until `answer`. */
export type Reaction = "open" | "hang" | "deaf" | Error;

/** A platform with faults, reached over connections of which it counts how many are open. */
export class FakePlatform implements Connector {
  readonly name = "platform";
  readonly idempotent = true;
  readonly sent: OutgoingMessage[] = [];
  /** Signs, reactions and progress: what passes. */
  readonly signs: [string, string][] = [];
  /** Used up one by one; the last one stays. */
  reactions: Reaction[] = ["open"];
  /** Answer to a probe; `silence`: none. Undefined: no probing. */
  probe: "answer" | "silence" | Error | undefined = "answer";
  attempts = 0;
  probes = 0;
  live = 0;
  mostLive = 0;
  /** A connection that is not closed before this resolves. */
  closing: Promise<void> = Promise.resolve();
  /** Linking of an account, on a platform with accounts. */
  link?: (options: object, signal: AbortSignal) => AsyncIterable<LoginEvent>;
  #host: ConnectionHost | undefined;
  #end: ((reason: Error) => void) | undefined;
  #answer: (() => void) | undefined;

  async connect(host: ConnectionHost, signal: AbortSignal): Promise<Connection> {
    this.attempts += 1;
    const [reaction = "open"] = this.reactions.length > 1 ? this.reactions.splice(0, 1) : this.reactions;
    if (reaction instanceof Error) throw reaction;
    if (reaction === "hang") await untilAborted(signal);
    if (reaction === "deaf") await new Promise<void>((resolve) => (this.#answer = resolve));
    return this.#open(host);
  }

  /** A deaf attempt gets its connection after all. */
  answer(): void {
    this.#answer?.();
  }

  /** The current connection ends by itself. */
  end(reason: Error): void {
    this.#end?.(reason);
  }

  /** Somebody says something over the last connection that was made. */
  async say(text: string): Promise<Receipt | undefined> {
    const sender = { id: "anna", name: "anna" };
    return this.#host?.accept({ channel: this.name, chat: "main", id: text, sender, text, mention: false });
  }

  degrade(reason: string | undefined): void {
    this.#host?.degraded(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #open(host: ConnectionHost): Connection {
    const ended = Promise.withResolvers<Error>();
    this.#host = host;
    this.#end = ended.resolve;
    this.live += 1;
    this.mostLive = Math.max(this.mostLive, this.live);
    let open = true;
    return {
      ended: ended.promise,
      send: async (message) => void this.sent.push(message),
      signal: async (chat, sign) => void this.signs.push([chat, sign]),
      react: async (chat, { emoji }) => void this.signs.push([chat, emoji]),
      showProgress: async (chat, { text }) => void this.signs.push([chat, text]),
      ...(this.probe !== undefined && { probe: () => this.#probe() }),
      [Symbol.asyncDispose]: async () => {
        await this.closing;
        if (open) this.live -= 1;
        open = false;
      },
    };
  }

  async #probe(): Promise<void> {
    this.probes += 1;
    if (this.probe === "silence") await new Promise<never>(() => undefined);
    if (this.probe instanceof Error) throw this.probe;
  }
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  throw signal.reason;
}
