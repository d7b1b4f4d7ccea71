import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { toError } from "../../../lib/app-error.ts";
import type { ServerStreams } from "../../../sandbox/servers/server-streams.ts";

/**
 * Maximum bytes of a message in either direction. A longer one ends the connection, as nobody knows whose answer it is.
 */
const messageBytes = 16 * 1024 * 1024;
/** Messages that a server may send in one second before it is made to wait. */
const messagesPerSecond = 2_000;
/** Lines that are no messages, such as what a program prints when it starts. */
const mostNoise = 1_000;
const newline = 0x0a;

export interface StreamTransportOptions {
  readonly streams: ServerStreams;
  /** Makes a checked message of a line; throws for what is none. */
  readonly parse: (line: string) => JSONRPCMessage;
  /** Told about a line that is no message, once for each connection. */
  readonly onNoise: (line: string) => void;
}

/**
 * Messages as lines of JSON over the streams of a server. Its output is hostile: it is bounded in size and in pace, and
 * never trusted to end.
 */
export class StreamTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** Reason of the end, when it is the server's fault. */
  fault: string | undefined;
  readonly #options: StreamTransportOptions;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #noise = 0;
  #second = { began: 0, messages: 0 };
  #pause: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: StreamTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { input, output, ended } = this.#options.streams;
    output.on("data", (chunk: Buffer) => this.#take(chunk));
    for (const stream of [input, output]) stream.on("error", (error: Error) => this.#fail(error.message));
    output.on("end", () => void this.close());
    void ended.then(({ reason, lastLine }) => {
      this.fault ??= lastLine === undefined ? reason : `${reason}, last it wrote: ${lastLine}`;
      return this.close();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { input } = this.#options.streams;
    if (this.#closing) throw new Error("the connection is closed");
    const line = `${JSON.stringify(message)}\n`;
    if (Buffer.byteLength(line) > messageBytes) throw new Error("a message may have 16 MiB");
    if (input.writableLength > messageBytes) return this.#fail("it does not read what it is sent");
    await new Promise<void>((resolve, reject) => {
      input.write(line, (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#pause);
    const { output } = this.#options.streams;
    output.removeAllListeners("data");
    output.resume();
    this.#pieces = [];
    await this.#options.streams[Symbol.asyncDispose]();
    this.onclose?.();
  }

  #fail(fault: string): void {
    if (this.#closing) return;
    this.fault ??= fault;
    this.onerror?.(new Error(fault));
    void this.close();
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1 && !this.#closing; end = chunk.indexOf(newline, from)) {
      this.#pieces.push(chunk.subarray(from, end));
      from = end + 1;
      const line = Buffer.concat(this.#pieces).toString("utf8");
      this.#pieces = [];
      this.#bytes = 0;
      this.#onLine(line);
    }
    const rest = chunk.subarray(from);
    if (this.#closing || rest.length === 0) return;
    this.#bytes += rest.length;
    if (this.#bytes > messageBytes) return this.#fail("it sent a message of more than 16 MiB");
    // A copy: a chunk is part of a larger one, which would be kept whole.
    this.#pieces.push(Buffer.from(rest));
  }

  #onLine(line: string): void {
    if (line.trim() === "") return;
    this.#slowDown();
    let message: JSONRPCMessage;
    try {
      message = this.#options.parse(line);
    } catch {
      return this.#onNoise(line);
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(toError(error));
    }
  }

  #onNoise(line: string): void {
    this.#noise += 1;
    if (this.#noise === 1) this.#options.onNoise(line.slice(0, 200));
    if (this.#noise > mostNoise) this.#fail("it writes what are no messages");
  }

  /** The stream waits, and so does the program behind it. */
  #slowDown(): void {
    const now = performance.now();
    if (now - this.#second.began > 1_000) this.#second = { began: now, messages: 0 };
    this.#second.messages += 1;
    if (this.#second.messages <= messagesPerSecond || this.#pause) return;
    const { output } = this.#options.streams;
    output.pause();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      output.resume();
    }, 1_000);
  }
}
