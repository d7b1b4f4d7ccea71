import type { Logger } from "pino";

import type { Delta, DeltaSource } from "../../../domain/chats/delta.ts";
import { toError } from "../../../lib/app-error.ts";
import { DeltaQueue } from "./delta-queue.ts";

/** A watcher of running turns. */
export interface DeltaWatcher {
  /** Asked before anything is worked out. Must be quick, and not throw. */
  wants(place: DeltaSource): boolean;
  /** Must return at once. */
  take(delta: Delta): void;
}

/**
 * Hands deltas to those who watch. Without a watcher nothing is worked out, kept or handed over; none of them can hold
 * up or fail a turn, and one that comes too late, or is too slow, misses some.
 */
export class DeltaBus {
  readonly #watchers = new Set<DeltaWatcher>();
  readonly #logger: Pick<Logger, "error">;

  constructor(logger: Pick<Logger, "error">) {
    this.#logger = logger;
  }

  /** Number of watchers. */
  get watchers(): number {
    return this.#watchers.size;
  }

  isWatched(place: DeltaSource): boolean {
    if (this.#watchers.size === 0) return false;
    for (const watcher of this.#watchers) if (watcher.wants(place)) return true;
    return false;
  }

  offer(delta: Delta): void {
    for (const watcher of this.#watchers) {
      try {
        if (watcher.wants(delta)) watcher.take(delta);
      } catch (error) {
        this.#watchers.delete(watcher);
        this.#logger.error({ err: toError(error) }, "somebody who watched turns failed, and does not watch anymore");
      }
    }
  }

  /** Until it is disposed. */
  watch(watcher: DeltaWatcher): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Deltas of one group, or of all, for a reader who takes them at its own pace, until the signal. */
  async *read(group: string | undefined, signal: AbortSignal): AsyncGenerator<ReturnType<DeltaQueue["take"]>[number]> {
    const queue = new DeltaQueue();
    const watching = this.watch({
      wants: (place) => group === undefined || place.group === group,
      take: (delta) => queue.add(delta),
    });
    try {
      while (!signal.aborted) {
        yield* queue.take();
        await queue.more(signal);
      }
    } finally {
      watching[Symbol.dispose]();
    }
  }
}
