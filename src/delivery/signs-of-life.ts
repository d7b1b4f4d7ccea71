import type { Sign } from "../domain/chats/message.ts";
import { type Sleep, sleep } from "../lib/time/sleep.ts";

/** A group's activity for a person; undefined: none. */
export type Activity = "waiting" | "running" | undefined;

export interface SignsOfLifeOptions {
  /** Shows a sign in a group's chat. May take as long as it likes, and fail. */
  readonly show: (group: string, sign: Sign) => Promise<void>;
  readonly wait?: Sleep;
}

/** People who get an answer within this time are not bothered. */
const firstMs = 3_000;
/** Platforms forget a sign after a while. */
const repeatMs = 10_000;

/** A person waiting in a group. */
interface Waiting {
  sign: Exclude<Sign, "idle">;
  readonly over: AbortController;
  shown: boolean;
}

/**
 * Shows waiting people that they are not forgotten: `queued` or `working` after 3 s, again every 10 s and after
 * changes, `idle` at the end. Never delays a group: a failed sign is skipped, and only one is shown at a time. No timer
 * runs while nobody waits.
 */
export class SignsOfLife implements Disposable {
  readonly #options: SignsOfLifeOptions;
  readonly #wait: Sleep;
  readonly #waiting = new Map<string, Waiting>();
  /** Groups in which a sign is on its way, with the one that is to follow it. */
  readonly #showing = new Map<string, Sign | undefined>();

  constructor(options: SignsOfLifeOptions) {
    this.#options = options;
    this.#wait = options.wait ?? sleep;
  }

  /** The group does this from now on. */
  note(group: string, activity: Activity): void {
    const waiting = this.#waiting.get(group);
    if (activity === undefined) {
      if (!waiting) return;
      this.#waiting.delete(group);
      waiting.over.abort();
      if (waiting.shown) this.#show(group, "idle");
      return;
    }
    const sign = activity === "waiting" ? "queued" : "working";
    if (!waiting) {
      const begun: Waiting = { sign, over: new AbortController(), shown: false };
      this.#waiting.set(group, begun);
      void this.#repeat(group, begun);
    } else if (waiting.sign !== sign) {
      waiting.sign = sign;
      if (waiting.shown) this.#show(group, sign);
    }
  }

  [Symbol.dispose](): void {
    for (const group of this.#waiting.keys()) this.note(group, undefined);
  }

  async #repeat(group: string, waiting: Waiting): Promise<void> {
    const { signal } = waiting.over;
    await this.#wait(firstMs, signal);
    while (!signal.aborted) {
      waiting.shown = true;
      this.#show(group, waiting.sign);
      await this.#wait(repeatMs, signal);
    }
  }

  #show(group: string, sign: Sign): void {
    if (this.#showing.has(group)) this.#showing.set(group, sign);
    else void this.#showAll(group, sign);
  }

  async #showAll(group: string, first: Sign): Promise<void> {
    for (let sign: Sign | undefined = first; sign !== undefined; sign = this.#showing.get(group)) {
      this.#showing.set(group, undefined);
      await this.#options.show(group, sign).catch(() => undefined);
    }
    this.#showing.delete(group);
  }
}
