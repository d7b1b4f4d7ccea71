import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";

import { RateLimiter } from "../../lib/time/rate-limiter.ts";

export interface MailboxWatchOptions {
  readonly folder: string;
  /** True when an event of this entry may mean a new message. */
  isNews(name: string): boolean;
  /** Something may have appeared. */
  wake(): void;
  /** Time to look without a hint. */
  rescan(): void;
  /** The other side produces events without end, which would keep the host busy; the watch rests for a second. */
  flood(): void;
}

/**
 * A message makes about six events; a hundred tool calls in a second are work, not an attack. An attack makes 200,000.
 */
const eventsPerSecond = 20_000;
const restMs = 1_000;
const rescanMs = 10_000;

/**
 * Says when to look into a folder that an agent writes to. One inotify watch on the folder alone: a watcher that keeps
 * a record of each entry costs the host hundreds of megabytes when the agent makes 200,000 of them. Events are hints;
 * a slow rescan covers those that the kernel drops.
 */
export class MailboxWatch implements Disposable {
  readonly #options: MailboxWatchOptions;
  #rescan: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;
  #reopen: NodeJS.Timeout | undefined;
  readonly #limiter = new RateLimiter({ count: eventsPerSecond, periodMs: 1_000 });
  #closed = false;

  constructor(options: MailboxWatchOptions) {
    this.#options = options;
    this.setFrozen(false);
    this.#open();
  }

  /** Stops rescans while the agent is frozen and cannot write. */
  setFrozen(isFrozen: boolean): void {
    clearInterval(this.#rescan);
    if (isFrozen || this.#closed) return;
    this.#rescan = setInterval(() => this.#options.rescan(), rescanMs).unref();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clearInterval(this.#rescan);
    clearTimeout(this.#reopen);
    this.#watcher?.close();
  }

  #open(): void {
    if (this.#closed) return;
    try {
      this.#watcher = watch(this.#options.folder, { persistent: false }, (_kind, name) => this.#event(name));
      this.#watcher.on("error", () => this.#rest());
    } catch {
      // The uid's inotify budget is used up: look once a second until it is not.
      this.#rest();
    }
    // What came while nobody watched has no event.
    this.#options.wake();
  }

  #event(name: string | null): void {
    if (this.#limiter.take(performance.now()).waitMs > 0) {
      this.#rest();
      this.#options.flood();
    } else if (name === null || this.#options.isNews(name)) {
      this.#options.wake();
    }
  }

  #rest(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearTimeout(this.#reopen);
    this.#reopen = setTimeout(() => this.#open(), restMs).unref();
  }
}
