/**
 * Keeps the starts of containers with a layer and decisions about it apart: many starts at once, or one decision.
 */
export class LayerGate {
  #starts = 0;
  #deciding: Promise<unknown> = Promise.resolve();
  #isDeciding = false;
  #idle = Promise.withResolvers<void>();

  constructor() {
    this.#idle.resolve();
  }

  /** Waits for a decision that is being carried out; none begins before what is returned is disposed. */
  async enter(): Promise<Disposable> {
    while (this.#isDeciding) await this.#deciding;
    if (this.#starts === 0) this.#idle = Promise.withResolvers<void>();
    this.#starts += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#starts -= 1;
        if (this.#starts === 0) this.#idle.resolve();
      },
    };
  }

  /** Carries out a decision, after earlier ones and the starts that are under way. */
  async decide<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#isDeciding) await this.#deciding;
    this.#isDeciding = true;
    const over = Promise.withResolvers<void>();
    this.#deciding = over.promise;
    try {
      await this.#idle.promise;
      return await work();
    } finally {
      this.#isDeciding = false;
      over.resolve();
    }
  }
}
