import type { Clock } from "../lib/time/clock.ts";

const mostWrong = 5;
const lockMs = 5 * 60_000;
/** People whose tries are remembered; more of them at once are an attack, of which the newest count. */
const mostPeople = 10_000;

interface Tries {
  /** Messages with a wrong code, so that one that is looked at again counts once. */
  readonly messages: ReadonlySet<number>;
  /** On the clock that only runs forward. */
  readonly until: number;
}

/** Keeps people from guessing: after five wrong codes within five minutes, somebody's codes are not looked at for five more. */
export class WrongCodes {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By `<channel>:<sender id>`. */
  readonly #tries = new Map<string, Tries>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  isLocked(who: string): boolean {
    return (this.#of(who)?.messages.size ?? 0) >= mostWrong;
  }

  /** The message `seq` had a code that is none. */
  wrong(who: string, seq: number): void {
    const messages = new Set(this.#of(who)?.messages).add(seq);
    this.#tries.delete(who);
    this.#tries.set(who, { messages, until: this.#clock.monotonic() + lockMs });
    const [oldest] = this.#tries.keys();
    if (this.#tries.size > mostPeople && oldest !== undefined) this.#tries.delete(oldest);
  }

  #of(who: string): Tries | undefined {
    const tries = this.#tries.get(who);
    return tries && tries.until > this.#clock.monotonic() ? tries : undefined;
  }
}
