import type {
  JSONRPCMessage,
  MessageExtraInfo,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";

export interface RemoteTransportOptions {
  readonly streamable: StreamableHTTPClientTransport;
  /** Opens the transport of older servers. */
  readonly openSse: () => SSEClientTransport;
  /** HTTP status in an error of the server. */
  readonly statusOf: (error: unknown) => number | undefined;
  /** Ends the connections below. */
  readonly release: () => void;
}

/** Time for telling the server that its session is over. */
const farewellMs = 2_000;
/** HTTP status codes of a POST to a server that only supports server-sent events. */
const notHere: ReadonlySet<number> = new Set([400, 404, 405]);

/** Streamable HTTP or, where the first message shows that the server has none of that, server-sent events. */
export class RemoteTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #options: RemoteTransportOptions;
  #inner: StreamableHTTPClientTransport | SSEClientTransport;
  #isSettled = false;

  constructor(options: RemoteTransportOptions) {
    this.#options = options;
    this.#inner = options.streamable;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner === this.#options.streamable;
  }

  get sessionId(): string | undefined {
    return this.#inner === this.#options.streamable ? this.#options.streamable.sessionId : undefined;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    this.#listen();
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    try {
      await this.#send(message, options);
      this.#isSettled = true;
    } catch (error) {
      if (this.#isSettled || !notHere.has(this.#options.statusOf(error) ?? 0)) throw error;
      // The newest servers are asked in their own way first; whether one speaks in events shows with the greeting
      // that all know.
      if (!("method" in message) || message.method !== "initialize") throw error;
      await this.#fallBack(error);
      await this.#send(message);
      this.#isSettled = true;
    }
  }

  async close(): Promise<void> {
    try {
      const { streamable } = this.#options;
      if (this.sessionId !== undefined) {
        const patience = AbortSignal.timeout(farewellMs);
        const over = new Promise((resolve) => patience.addEventListener("abort", resolve, { once: true }));
        await Promise.race([streamable.terminateSession().catch(() => undefined), over]);
      }
      await this.#inner.close();
    } finally {
      this.#options.release();
    }
  }

  async #send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const inner: Transport = this.#inner;
    await inner.send(message, options);
  }

  async #fallBack(cause: unknown): Promise<void> {
    const sse = this.#options.openSse();
    try {
      await sse.start();
    } catch {
      await sse.close();
      throw cause;
    }
    const before = this.#inner;
    delete before.onclose;
    await before.close();
    this.#inner = sse;
    this.#listen();
  }

  #listen(): void {
    Object.assign(this.#inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (message: JSONRPCMessage, extra?: MessageExtraInfo) => this.onmessage?.(message, extra),
    } satisfies Pick<Transport, "onclose" | "onerror" | "onmessage">);
  }
}
