/** A memory of the index, and how well it answers. */
export interface ScoredSlot {
  readonly slot: number;
  readonly score: number;
}

/** Keeps the best few of the offered items; among equals the first. */
export class Best {
  readonly #limit: number;
  /** Best first. */
  readonly #slots: ScoredSlot[] = [];
  #least = 0;

  constructor(limit: number) {
    this.#limit = limit;
    if (limit === 0) this.#least = Infinity;
  }

  /** Score that an item has to exceed. Items always have a score. */
  get least(): number {
    return this.#least;
  }

  offer(slot: number, score: number): void {
    if (score <= this.#least) return;
    if (this.#slots.length >= this.#limit) this.#slots.pop();
    let place = this.#slots.length;
    while (place > 0 && score > (this.#slots[place - 1]?.score ?? Infinity)) place -= 1;
    this.#slots.splice(place, 0, { slot, score });
    if (this.#slots.length >= this.#limit) this.#least = this.#slots.at(-1)?.score ?? Infinity;
  }

  taken(): ScoredSlot[] {
    return this.#slots;
  }
}
