import { setImmediate } from "node:timers/promises";

import { sleep } from "../../../lib/time/sleep.ts";
import type { MemoryFile } from "../file/memory-file.ts";
import { type IndexModel, LoadedIndex } from "./load-index.ts";
import type { VectorChoice } from "./vectors/open-vectors.ts";

export interface WarmIndexOptions {
  readonly file: MemoryFile;
  readonly model: IndexModel | undefined;
  /** Maximum rows. */
  readonly rows?: number | undefined;
  readonly choice: VectorChoice;
  readonly signal: AbortSignal;
}

/** Others have the thread after so long. */
const sliceMs = 5;

/**
 * A group's index, built on demand and whenever it no longer matches the file, in slices that let other work proceed.
 */
export class WarmIndex implements AsyncDisposable {
  readonly #options: WarmIndexOptions;
  #loaded: LoadedIndex | undefined;
  #warming: Promise<void> | undefined;

  constructor(options: WarmIndexOptions) {
    this.#options = options;
  }

  /** The index as far as built; may lag behind the file. */
  get loaded(): LoadedIndex | undefined {
    return this.#loaded;
  }

  /** The same; empty where there is none. */
  partial(): LoadedIndex {
    return this.#loaded ?? this.#begin();
  }

  /** Discards the index. */
  drop(): void {
    this.#loaded = undefined;
  }

  /** Takes in what is new, for a moment at most. True when it has all that is in the file. */
  catchUp(): boolean {
    for (;;) {
      try {
        if (this.#loaded?.isStale !== false) this.#loaded = this.#begin();
        return this.#loaded.takeIn(sliceMs);
      } catch (error) {
        this.#loaded = undefined;
        // There is no room for the vectors.
        if (!(error instanceof RangeError)) throw error;
        this.#options.choice.failed(error);
      }
    }
  }

  /** Makes it whole. Resolves when it is, or when the signal aborts. */
  async warm(): Promise<void> {
    await (this.#warming ??= this.#warmUp().finally(() => (this.#warming = undefined)));
  }

  /** Resolves after the signal when nothing reads the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#warming?.catch(() => undefined);
  }

  /** Completes the index within a time; undefined when it takes longer, then it continues in the background. */
  async whole(milliseconds: number): Promise<LoadedIndex | undefined> {
    if (this.catchUp()) return this.#loaded;
    const isOver = new AbortController();
    const late = sleep(milliseconds, isOver.signal).then(() => true);
    try {
      const warming = this.warm();
      if (await Promise.race([warming.then(() => false), late])) {
        warming.catch(() => undefined);
        return undefined;
      }
    } finally {
      isOver.abort();
    }
    return this.#loaded;
  }

  async #warmUp(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted && !this.catchUp()) await setImmediate();
  }

  #begin(): LoadedIndex {
    const { file, model, rows, choice } = this.#options;
    return new LoadedIndex(file, { model, vectors: model && choice.open(model.dimensions), rows });
  }
}
