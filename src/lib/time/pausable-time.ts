/** A time that runs out, and stands still while something is waited for. Its signal aborts when it is over. */
export class PausableTime implements Disposable {
  readonly #over = new AbortController();
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;

  constructor(limitMs: number) {
    this.#leftMs = limitMs;
    this.#run();
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** It goes on when the last of several is done. */
  async pausedWhile<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#pauses === 0) this.#stop();
    this.#pauses += 1;
    try {
      return await work();
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#run();
    }
  }

  [Symbol.dispose](): void {
    this.#pauses = Infinity;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#over.abort(new Error("the time is over")), this.#leftMs);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }
}
