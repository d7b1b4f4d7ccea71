type Listener<Value> = (value: Value) => unknown;

/** Stands between what happens and those who do something then, so that neither is made with the other. */
export class Signal<Value = void> {
  readonly #listeners: Listener<Value>[] = [];

  /** Calls `listener` at each signal from now on. */
  on(listener: Listener<Value>): void {
    this.#listeners.push(listener);
  }

  /**
   * Calls all listeners one after another, in the order in which they came. Rejects afterwards as the first one that
   * failed.
   */
  async emit(value: Value): Promise<void> {
    const failures: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        await listener(value);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
