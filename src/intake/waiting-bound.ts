/**
 * How many messages wait at most, without counting them each time: it is enough to add up what comes in until as many may
 * wait as are allowed. Often fewer wait, as turns take messages without telling here.
 */
export class WaitingBound {
  #atMost = Number.POSITIVE_INFINITY;

  /** One more waits. */
  add(): void {
    this.#atMost += 1;
  }

  /** Do as many wait as are allowed? Counts only when it may be so. */
  async isReached(allowed: number, count: () => Promise<number>): Promise<boolean> {
    if (this.#atMost >= allowed) this.#atMost = await count();
    return this.#atMost >= allowed;
  }
}
