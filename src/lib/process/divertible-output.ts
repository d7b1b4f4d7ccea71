import type { Writable } from "node:stream";

/** Writes to a stream, or temporarily to another taker such as a prompt that must not be overwritten. */
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
