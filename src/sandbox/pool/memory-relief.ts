import PQueue from "p-queue";

import type { HotContainer } from "./hot-container.ts";

/** Assumed memory of a container soon after its start, or of one that cannot be measured. */
export const containerMb = 64;

export interface MemoryReliefOptions {
  /** The containers that could be ended. */
  readonly idle: () => readonly HotContainer[];
  /** Available megabytes of the machine; undefined when unknown: then nothing is ended. */
  readonly availableMb: () => Promise<number | undefined>;
  /** Memory to keep available. */
  readonly reserveMb: number;
  /** True when something still runs in it: it goes last. */
  readonly isNeeded?: ((hot: HotContainer) => boolean) | undefined;
  readonly now: () => number;
}

/**
 * Ends idle containers until there is memory enough. The first to go is the one that has held the most memory for the
 * longest: megabytes × milliseconds since it was used. Those in which background jobs run come last.
 */
export class MemoryRelief {
  readonly #options: MemoryReliefOptions;
  /** Two at once would both end containers for the same megabytes. */
  readonly #line = new PQueue({ concurrency: 1 });

  constructor(options: MemoryReliefOptions) {
    this.#options = options;
  }

  /** Makes room for this number of starting containers. */
  async relieve(starting: number): Promise<void> {
    await this.#line.add(() => this.#endUntil(this.#options.reserveMb + starting * containerMb));
  }

  async #endUntil(neededMb: number): Promise<void> {
    if (await this.#has(neededMb)) return;
    for (const hot of await this.#inOrder()) {
      // It may have got work in between.
      if (hot.state === "idle") await hot.close("the machine's memory was needed");
      if (await this.#has(neededMb)) return;
    }
  }

  async #has(neededMb: number): Promise<boolean> {
    const available = await this.#options.availableMb();
    return available === undefined || available >= neededMb;
  }

  async #inOrder(): Promise<HotContainer[]> {
    const now = this.#options.now();
    const weighed = await Promise.all(
      this.#options.idle().map(async (hot) => {
        const held = (await hot.heldMemoryMb()) ?? containerMb;
        return { hot, isNeeded: this.#options.isNeeded?.(hot) === true, weight: held * (now - hot.lastUsedAt) };
      }),
    );
    return weighed
      .toSorted((a, b) => Number(a.isNeeded) - Number(b.isNeeded) || b.weight - a.weight)
      .map(({ hot }) => hot);
  }
}
