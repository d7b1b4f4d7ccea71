import type { Logger } from "pino";

import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Store } from "../stores/store.ts";
import type { QueuedSession } from "./session-queue.ts";

/** The wall clock may be set, or the machine sleep: nobody waits longer than this for a timer that was set before. */
const longestMs = 60_000;
const retryMs = 5_000;

/** Wakes sessions when their work is due: one timer for the earliest of all, none while nothing is scheduled. */
export class DueWork implements Disposable {
  readonly #work: Pick<Store["work"], "dueSessions" | "nextDueAt">;
  readonly #wake: (queued: QueuedSession) => void;
  readonly #clock: Pick<Clock, "now">;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isStale = false;
  #isOver = false;

  constructor(options: {
    readonly work: Pick<Store["work"], "dueSessions" | "nextDueAt">;
    readonly wake: (queued: QueuedSession) => void;
    readonly clock: Pick<Clock, "now">;
    readonly logger: Logger;
  }) {
    this.#work = options.work;
    this.#wake = options.wake;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** There is new work, due now or later. */
  changed(): void {
    this.#isStale = true;
    if (!this.#isLooking) void this.#lookUntilFresh();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** Never rejects. */
  async #lookUntilFresh(): Promise<void> {
    this.#isLooking = true;
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false;
      clearTimeout(this.#timer);
      try {
        await this.#look();
      } catch (error) {
        this.#logger.error({ err: toError(error) }, "could not look for work that is due; retrying");
        this.#lookIn(retryMs);
      }
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const now = this.#clock.now();
    for (const { key, group } of await this.#work.dueSessions(now)) this.#wake({ session: key, group });
    const next = await this.#work.nextDueAt(now);
    if (next !== undefined) this.#lookIn(Math.min(longestMs, Math.max(0, next - this.#clock.now())));
  }

  #lookIn(delayMs: number): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.changed(), delayMs).unref();
  }
}
