import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";

export interface ScreenStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly error: NodeJS.WritableStream;
  /** Ctrl-C was typed at the prompt, which ends. */
  readonly onInterrupt?: (() => void) | undefined;
}

/** Lines in, texts out. With a prompt, what is printed never mixes with what is being typed. */
export class Screen implements Disposable {
  readonly #streams: ScreenStreams;
  readonly #reader: Interface;
  readonly #lines: AsyncIterable<string>;
  readonly #prompt: string | undefined;
  #status = "";
  #closed = false;

  constructor(streams: ScreenStreams, prompt: string | undefined) {
    this.#streams = streams;
    this.#prompt = prompt;
    const typed = prompt === undefined ? { terminal: false } : { terminal: true, output: streams.output, prompt };
    this.#reader = createInterface({ input: streams.input, crlfDelay: Infinity, ...typed });
    const iterator = this.#reader[Symbol.asyncIterator]();
    // The iterator keeps lines from its making on; one made later would miss those in between.
    this.#lines = { [Symbol.asyncIterator]: () => iterator };
    this.#reader.once("close", () => {
      this.#closed = true;
      // What comes next stands below the prompt, not on it.
      if (prompt !== undefined) streams.output.write("\n");
    });
    this.#reader.once("SIGINT", () => {
      streams.onInterrupt?.();
      this.#reader.close();
    });
  }

  /** Every line up to the end of the input, also those that came before anybody asked. To be iterated once. */
  get lines(): AsyncIterable<string> {
    return this.#lines;
  }

  prompt(): void {
    if (this.#prompt !== undefined && !this.#closed) this.#reader.prompt(true);
  }

  /** A few words in front of the prompt, in the place of those before; what is being typed stays. */
  status(text: string): void {
    if (this.#prompt === undefined || this.#closed || text === this.#status) return;
    this.#status = text;
    this.#reader.setPrompt(text + this.#prompt);
    this.prompt();
  }

  /** Resolves when the output has taken the text, rejects when it cannot. */
  async print(text: string): Promise<void> {
    await this.#between(() => writeTo(this.#streams.output, text));
  }

  /** Tells the person at the terminal something that is no part of the conversation. Best effort. */
  async hint(text: string): Promise<void> {
    await this.#between(() => writeTo(this.#streams.error, text)).catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }

  async #between(write: () => Promise<void>): Promise<void> {
    if (this.#prompt === undefined || this.#closed) {
      await write();
      return;
    }
    cursorTo(this.#streams.output, 0);
    clearLine(this.#streams.output, 0);
    const written = write();
    this.prompt();
    await written;
  }
}

function writeTo(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
