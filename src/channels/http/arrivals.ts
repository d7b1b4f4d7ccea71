/** Lets readers wait for the next reply without missing one that comes while they look. */
export class ReplySignal {
  readonly #waiting = new Set<() => void>();
  #count = 0;
  #closed = false;

  /** Rises with each arrival. Note it before looking, and pass it to `after` when there was nothing. */
  get count(): number {
    return this.#count;
  }

  get closed(): boolean {
    return this.#closed;
  }

  announce(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Releases all waiting callers. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves as soon as there are more arrivals than `count`, when the signal aborts, and at the close. */
  async after(count: number, signal: AbortSignal): Promise<void> {
    if (this.#count > count || this.#closed || signal.aborted) return;
    const awake = Promise.withResolvers<void>();
    const wake = (): void => awake.resolve();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    await awake.promise;
    this.#waiting.delete(wake);
    signal.removeEventListener("abort", wake);
  }
}
