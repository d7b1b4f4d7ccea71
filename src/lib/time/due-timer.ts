/** The wall clock may be set, or the machine sleep: nobody waits longer than this for a timer that was set before. */
const longestMs = 60_000;
const retryMs = 5_000;

/**
 * Looks whenever something may have changed, and when the next moment has come: one timer, none while nothing is to
 * come. One look at a time; what changes during one is looked at after it. It does not keep the process alive.
 */
export class DueTimer implements Disposable {
  readonly #look: () => Promise<number | undefined>;
  readonly #onError: (error: unknown) => void;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStale = false;
  #isOver = false;

  /**
   * `look` resolves to the milliseconds until there is something to do, undefined for never; where it rejects, it is
   * tried again.
   */
  constructor(options: {
    readonly look: () => Promise<number | undefined>;
    readonly onError: (error: unknown) => void;
  }) {
    this.#look = options.look;
    this.#onError = options.onError;
  }

  /** Resolves when everything that is due now has been looked at. Never rejects. */
  changed(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookUntilFresh();
    return this.#looking;
  }

  /** Resolves when nothing is being looked at. */
  async idle(): Promise<void> {
    await this.#looking;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #lookUntilFresh(): Promise<void> {
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false;
      clearTimeout(this.#timer);
      try {
        this.#lookIn(await this.#look());
      } catch (error) {
        this.#onError(error);
        this.#lookIn(retryMs);
      }
    }
    this.#looking = undefined;
  }

  #lookIn(delayMs: number | undefined): void {
    if (this.#isOver || delayMs === undefined) return;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => void this.changed(), Math.min(longestMs, Math.max(0, delayMs)));
    this.#timer = timer.unref();
  }
}
