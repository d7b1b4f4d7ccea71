import { limits } from "../../src/protocol/limits.ts";
import { cutMiddle, decodeText } from "./text.ts";
import type { ToolOutputFolder, ToolOutputFile } from "./tool-output-folder.ts";

/** Enough for half of a result each, at four bytes per character. */
const keptBytes = 2 * limits.toolOutputChars;

/**
 * A program's output in bounded memory: beginning and end are kept, and the whole goes to a file once something is
 * dropped or is too long for a result.
 */
export class OutputLog {
  readonly #folder: ToolOutputFolder;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #totalBytes = 0;
  #file: ToolOutputFile | undefined;

  constructor(folder: ToolOutputFolder) {
    this.#folder = folder;
  }

  write(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    this.#file?.write(chunk);
    const headPart = chunk.subarray(0, keptBytes - this.#headBytes);
    if (headPart.length > 0) this.#head.push(headPart);
    this.#headBytes += headPart.length;
    const tailPart = chunk.subarray(headPart.length);
    if (tailPart.length > 0) this.#keepTail(tailPart);
  }

  /** The text for the model. Ends the log. */
  finish(): string {
    const head = decodeText(Buffer.concat(this.#head));
    const tail = Buffer.concat(this.#tail);
    if (this.#isWhole) {
      const text = decodeText(Buffer.concat([...this.#head, tail]));
      if (text.length <= limits.toolOutputChars) return text.toWellFormed();
      this.#spill();
      return cutMiddle(
        text,
        limits.toolOutputChars,
        (chars) => `[… ${chars} characters cut; ${this.#whereabouts()} …]`,
      );
    }
    const half = limits.toolOutputChars / 2;
    const first = head.slice(0, half).toWellFormed();
    const last = decodeText(tail.subarray(-keptBytes)).slice(-half).toWellFormed();
    const cutBytes = this.#totalBytes - Buffer.byteLength(first) - Buffer.byteLength(last);
    return `${first}\n[… ${cutBytes} bytes cut; ${this.#whereabouts()} …]\n${last}`;
  }

  get #isWhole(): boolean {
    return this.#totalBytes === this.#headBytes + this.#tailBytes;
  }

  #keepTail(chunk: Buffer): void {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    for (let first = this.#tail[0]; first && this.#tailBytes - first.length >= keptBytes; first = this.#tail[0]) {
      this.#spill();
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }

  /** Called while everything is still in memory. */
  #spill(): void {
    if (this.#file) return;
    this.#file = this.#folder.create();
    for (const chunk of [...this.#head, ...this.#tail]) this.#file.write(chunk);
  }

  #whereabouts(): string {
    return this.#file?.close() ?? "";
  }
}
