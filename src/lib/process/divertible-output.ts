import type { Writable } from "node:stream";

/** What is written goes to the stream, or to whoever takes it for a while: a prompt, which must not be written over. */
export class DivertibleOutput {
  readonly #stream: Pick<Writable, "write">;
  #taker: ((text: string) => void) | undefined;

  constructor(stream: Pick<Writable, "write">) {
    this.#stream = stream;
  }

  write(text: string): void {
    if (this.#taker) this.#taker(text);
    else this.#stream.write(text);
  }

  /** Until the end of the scope. */
  divert(taker: (text: string) => void): Disposable {
    this.#taker = taker;
    return {
      [Symbol.dispose]: () => {
        if (this.#taker === taker) this.#taker = undefined;
      },
    };
  }
}
