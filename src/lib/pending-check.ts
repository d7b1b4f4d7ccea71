/**
 * Saves looking for what is hardly ever there: it is looked for in a place once, and then only when there is reason to
 * doubt that there is nothing.
 */
export class PendingCheck {
  readonly #looks = new Map<string, Promise<void>>();

  /** There may be something in this place from now on. */
  raise(place: string): void {
    this.#looks.delete(place);
  }

  /**
   * Looks, unless that has been done since the last doubt; a look that is under way is waited for. One that rejects
   * does not count.
   */
  settle(place: string, look: () => Promise<void>): Promise<void> {
    const known = this.#looks.get(place);
    if (known !== undefined) return known;
    const looking = look();
    this.#looks.set(place, looking);
    looking.catch(() => {
      if (this.#looks.get(place) === looking) this.#looks.delete(place);
    });
    return looking;
  }
}
