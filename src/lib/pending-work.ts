/** Work that nobody waits for now, but that somebody waits for in the end. */
export class PendingWork {
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Set<Promise<void>>();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(work: Promise<unknown>): void {
    const tracked: Promise<void> = work
      .then(() => undefined, this.#onError)
      .finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  /** Resolves when all that was added so far is done. Never rejects. */
  async done(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
