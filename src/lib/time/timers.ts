/** Timers with an owner: what is still to come when it is disposed of does not happen. None keeps the process alive. */
export class Timers implements Disposable {
  readonly #pending = new Set<NodeJS.Timeout>();
  #isOver = false;

  /** Calls `action`, which must not throw, after this many milliseconds; disposing the result takes that back. */
  after(delayMs: number, action: () => void): Disposable {
    if (this.#isOver) return { [Symbol.dispose]: () => undefined };
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      action();
    }, delayMs).unref();
    this.#pending.add(timer);
    return {
      [Symbol.dispose]: () => {
        clearTimeout(timer);
        this.#pending.delete(timer);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const timer of this.#pending) clearTimeout(timer);
    this.#pending.clear();
  }
}
