import type { Store } from "../../stores/contract/store.ts";

const lockMinutes = 5;
const mostWrong = 5;
const forgottenMs = 24 * 3_600_000;

/** Wrong codes by person or chat: after five, none is accepted for five minutes, across restarts and clock changes. */
export class CodeTries {
  readonly #store: Pick<Store["requests"], "tries" | "noteTry" | "forgetTries">;
  readonly #now: () => number;

  /** `now` must never go back. */
  constructor(store: Pick<Store["requests"], "tries" | "noteTry" | "forgetTries">, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** True when locked; `place`: the person or chat. */
  async isLocked(place: string): Promise<boolean> {
    const tries = await this.#store.tries(place);
    return tries !== undefined && tries.wrong >= mostWrong && this.#now() < tries.at + lockMinutes * 60_000;
  }

  /** Counts a wrong code once per message. Returns true when it locks. */
  async wrong(place: string, message: number): Promise<boolean> {
    const at = this.#now();
    const tries = await this.#store.tries(place);
    const isOver =
      tries !== undefined && at >= tries.at + (tries.wrong >= mostWrong ? lockMinutes * 60_000 : forgottenMs);
    if (isOver) await this.#store.forgetTries(place);
    return (await this.#store.noteTry({ place, message, at })) >= mostWrong;
  }

  right(place: string): Promise<void> {
    return this.#store.forgetTries(place);
  }
}

export const lockedText = `Too many wrong codes were typed here. Try again in ${lockMinutes} minutes.`;
