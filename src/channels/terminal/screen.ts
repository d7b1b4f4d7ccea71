import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";
import { stripVTControlCharacters } from "node:util";

import { columnsOf } from "../../lib/text/columns.ts";
import type { HostConsole } from "../define-channel.ts";

type ScreenStreams = Pick<HostConsole, "input" | "output" | "error" | "logs" | "onInterrupt">;

/** Lines in, texts out. With a prompt, what is printed, or logged, never mixes with what is being typed. */
export class Screen implements Disposable {
  readonly #streams: ScreenStreams;
  readonly #reader: Interface;
  readonly #lines: AsyncIterable<string>;
  readonly #prompt: string | undefined;
  readonly #logs: Disposable | undefined;
  #status = "";
  #isPromptShown = false;
  /**
   * Lines that stand above the prompt until others take their place, and how many rows of them there are on the screen.
   */
  #live: readonly string[] = [];
  #liveRows = 0;
  #closed = false;

  constructor(streams: ScreenStreams, prompt: string | undefined) {
    this.#streams = streams;
    this.#prompt = prompt;
    const typed = prompt === undefined ? { terminal: false } : { terminal: true, output: streams.output, prompt };
    this.#reader = createInterface({ input: streams.input, crlfDelay: Infinity, ...typed });
    const iterator = this.#reader[Symbol.asyncIterator]();
    // The iterator keeps lines from its making on; one made later would miss those in between.
    this.#lines = { [Symbol.asyncIterator]: () => iterator };
    this.#logs = prompt === undefined ? undefined : streams.logs?.divert((text) => void this.hint(text));
    this.#reader.on("line", (line) => this.#leaveLine(line));
    this.#reader.once("close", () => {
      if (this.#liveRows > 0) this.#wipe(this.#reader.getCursorPos().rows);
      this.#closed = true;
      this.#logs?.[Symbol.dispose]();
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

  /** Width of the terminal; undefined when there is none, and nothing is wrapped. */
  get columns(): number | undefined {
    const { output } = this.#streams;
    return "columns" in output && typeof output.columns === "number" && output.columns > 0 ? output.columns : undefined;
  }

  prompt(): void {
    if (this.#prompt === undefined || this.#closed) return;
    this.#isPromptShown = true;
    this.#reader.prompt(true);
  }

  /** A few words in front of the prompt, in the place of those before; what is being typed stays. */
  status(text: string): void {
    if (this.#prompt === undefined || this.#closed || text === this.#status) return;
    this.#status = text;
    this.#reader.setPrompt(text + this.#prompt);
    this.prompt();
  }

  /** Rows of the terminal; undefined when there is none. */
  get rows(): number | undefined {
    const { output } = this.#streams;
    return "rows" in output && typeof output.rows === "number" && output.rows > 0 ? output.rows : undefined;
  }

  /**
   * Lines above the prompt, none longer than a row, in the place of those before. What is printed stands above them.
   */
  live(lines: readonly string[]): void {
    if (this.#prompt === undefined || this.#closed || (lines.length === 0 && this.#live.length === 0)) return;
    this.#live = lines;
    if (this.#isPromptShown) void this.#between(() => Promise.resolve());
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
    if (!this.#isPromptShown || this.#closed) {
      await write();
      return;
    }
    const { output } = this.#streams;
    const { rows } = this.#reader.getCursorPos();
    this.#wipe(rows);
    const written = write();
    this.#showLive();
    // The prompt goes up as many rows as what was typed took above the cursor.
    if (rows > 0) output.write("\n".repeat(rows));
    this.prompt();
    await written;
  }

  /** Erases the prompt and this number of rows above the cursor. */
  #wipe(rows: number): void {
    const { output } = this.#streams;
    moveCursor(output, 0, -(rows + this.#liveRows));
    cursorTo(output, 0);
    clearScreenDown(output);
    this.#liveRows = 0;
  }

  #showLive(): void {
    if (this.#live.length === 0) return;
    this.#streams.output.write(this.#live.map((line) => `${line}\n`).join(""));
    this.#liveRows = this.#live.length;
  }

  /** A line was entered: it stays where it is read again, and what stood above it comes below. */
  #leaveLine(line: string): void {
    const { columns } = this;
    if (this.#liveRows === 0 || columns === undefined || this.#prompt === undefined) return;
    const prompt = this.#status + this.#prompt;
    const rows = Math.floor(columnsOf(stripVTControlCharacters(prompt) + line) / columns) + 1;
    this.#wipe(rows);
    this.#streams.output.write(`${prompt}${line}\n`);
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
