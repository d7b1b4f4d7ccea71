import { limits } from "../../src/protocol/limits.ts";
import type { CallOutput } from "./loops/agent-loop.ts";

/** Between two pieces. */
const everyMs = 250;
/** Bytes of unsent output, at up to four per character. */
const keptBytes = 4 * limits.outputPieceChars;
const cutMark = "…\n";

/**
 * A call's live output in pieces: at most four per second, each with the end of the new output. Lost pieces do not
 * matter.
 */
export class OutputPieces implements CallOutput {
  readonly #send: (text: string) => Promise<void>;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #waiting: Buffer = Buffer.alloc(0);
  #isCut = false;
  #timer: NodeJS.Timeout | undefined;
  #isSending = false;
  #isOver = false;

  constructor(send: (text: string) => Promise<void>) {
    this.#send = send;
  }

  write(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const all = Buffer.concat([this.#waiting, chunk.subarray(-keptBytes)]);
    this.#isCut ||= chunk.length > keptBytes || all.length > keptBytes;
    this.#waiting = all.subarray(-keptBytes);
    this.#plan();
  }

  /** Sends the rest. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#flush();
  }

  #plan(): void {
    if (this.#timer || this.#isSending) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, everyMs);
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const text = this.#decoder.decode(this.#waiting, { stream: !this.#isOver }).replaceAll("\0", "");
    const room = limits.outputPieceChars - cutMark.length;
    const isCut = this.#isCut || text.length > room;
    this.#waiting = Buffer.alloc(0);
    this.#isCut = false;
    if (text === "") return;
    this.#isSending = true;
    const piece = isCut ? cutMark + text.slice(-room) : text;
    void this.#send(piece.toWellFormed())
      .catch(() => undefined)
      .finally(() => {
        this.#isSending = false;
        if (this.#waiting.length > 0 && !this.#isOver) this.#plan();
      });
  }
}
