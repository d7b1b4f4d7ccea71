import type { Logger } from "pino";

import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { DueTimer } from "../../lib/time/due-timer.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { QueuedSession } from "./session-queue.ts";

/** Wakes sessions when their work is due: one timer for the earliest of all, none while nothing is scheduled. */
export class DueWork implements Disposable {
  readonly #work: Pick<Store["work"], "dueSessions" | "nextDueAt">;
  readonly #wake: (queued: QueuedSession) => void;
  readonly #clock: Pick<Clock, "now">;
  readonly #lookout: DueTimer;

  constructor(options: {
    readonly work: Pick<Store["work"], "dueSessions" | "nextDueAt">;
    readonly wake: (queued: QueuedSession) => void;
    readonly clock: Pick<Clock, "now">;
    readonly logger: Logger;
  }) {
    this.#work = options.work;
    this.#wake = options.wake;
    this.#clock = options.clock;
    this.#lookout = new DueTimer({
      look: () => this.#look(),
      onError: (error) =>
        options.logger.error({ err: toError(error) }, "could not look for work that is due; retrying"),
    });
  }

  /** There is new work, due now or later. */
  changed(): void {
    void this.#lookout.changed();
  }

  [Symbol.dispose](): void {
    this.#lookout[Symbol.dispose]();
  }

  /** Milliseconds until the next work is due. */
  async #look(): Promise<number | undefined> {
    const now = this.#clock.now();
    for (const { key, group } of await this.#work.dueSessions(now)) this.#wake({ session: key, group });
    const next = await this.#work.nextDueAt(now);
    return next === undefined ? undefined : next - this.#clock.now();
  }
}
