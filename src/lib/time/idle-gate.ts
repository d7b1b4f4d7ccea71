import { sleep } from "./sleep.ts";

export interface IdleGateOptions {
  /** Nothing may have stirred for so long. */
  readonly quietMs: number;
  /** Then it begins in any case. */
  readonly longestMs: number;
}

/** Lets work that nobody waits for begin when nothing has stirred for a while. */
export class IdleGate {
  readonly #options: IdleGateOptions;
  #stirred = -Infinity;

  constructor(options: IdleGateOptions) {
    this.#options = options;
  }

  /** Something is going on that others wait for. */
  stir(): void {
    this.#stirred = performance.now();
  }

  /** Resolves in the next lull, when it has waited for long enough, or when the signal aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    const { quietMs, longestMs } = this.#options;
    const latest = performance.now() + longestMs;
    for (;;) {
      const left = Math.min(this.#stirred + quietMs, latest) - performance.now();
      if (left <= 0 || signal.aborted) return;
      await sleep(left, signal);
    }
  }
}
