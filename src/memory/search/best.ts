/** A memory of the index, and how well it answers. */
export interface ScoredSlot {
  readonly slot: number;
  readonly score: number;
}

/** The best so many of what is offered; of equals the one that was offered first. */
export class Best {
  readonly #limit: number;
  /** Best first. */
  readonly #slots: ScoredSlot[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Is it good enough? Nothing is without a score. */
  takes(score: number): boolean {
    return score > 0 && (this.#slots.length < this.#limit || score > (this.#slots.at(-1)?.score ?? Infinity));
  }

  offer(slot: number, score: number): void {
    if (!this.takes(score)) return;
    if (this.#slots.length >= this.#limit) this.#slots.pop();
    let place = this.#slots.length;
    while (place > 0 && score > (this.#slots[place - 1]?.score ?? Infinity)) place -= 1;
    this.#slots.splice(place, 0, { slot, score });
  }

  taken(): ScoredSlot[] {
    return this.#slots;
  }
}
