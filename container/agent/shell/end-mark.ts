/**
 * Splits an endless stream of output into calls: what comes before the expected mark belongs to the call, everything
 * else is dropped. A mark is found even when it arrives in pieces.
 */
export class EndMarkFinder {
  #mark: Buffer | undefined;
  #held: Buffer = Buffer.alloc(0);
  #onOutput: (chunk: Buffer) => void = () => {};
  #resolve: () => void = () => {};
  #found: Promise<void> = Promise.resolve();

  /** The mark that is being waited for. */
  get expected(): string | undefined {
    return this.#mark?.toString();
  }

  /** Resolves when it was found. */
  get found(): Promise<void> {
    return this.#found;
  }

  expect(mark: string, onOutput: (chunk: Buffer) => void): Promise<void> {
    this.#mark = Buffer.from(mark);
    this.#held = Buffer.alloc(0);
    this.#onOutput = onOutput;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolve = resolve;
    this.#found = promise;
    return promise;
  }

  read(chunk: Buffer): void {
    if (!this.#mark) return;
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const at = bytes.indexOf(this.#mark);
    const certain = at === -1 ? possibleStart(bytes, this.#mark) : at;
    if (certain > 0) this.#onOutput(bytes.subarray(0, certain));
    this.#held = bytes.subarray(certain);
    if (at === -1) return;
    this.#mark = undefined;
    this.#resolve();
  }
}

/** Possible start of the mark within the bytes; their end when there is none. */
function possibleStart(bytes: Buffer, mark: Buffer): number {
  for (let at = Math.max(0, bytes.length - mark.length + 1); at < bytes.length; at += 1) {
    if (bytes.subarray(at).equals(mark.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
}
