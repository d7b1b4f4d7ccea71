import type { Logger } from "pino";

import { toError } from "../../lib/app-error.ts";
import type { HostEvent } from "../../domain/events/event.ts";

/** Events that wait for one subscriber at most. */
const bufferedEvents = 2_000;

export interface SubscriptionOptions {
  /** Name of the subscriber, for the log. */
  readonly name: string;
  readonly handle: (event: HostEvent) => void;
  readonly logger: Logger;
  readonly capacity?: number | undefined;
}

/**
 * A passing subscriber: it gets events a moment after they were stored, in order, and can neither delay nor fail what
 * they tell of. What does not fit into its buffer it misses; that is counted, and can be read again from the store by
 * `seq`.
 */
export class Subscription implements Disposable {
  readonly #options: SubscriptionOptions;
  readonly #capacity: number;
  #waiting: HostEvent[] = [];
  #isDraining = false;
  #missed = 0;
  #missedSince: number | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? bufferedEvents;
  }

  /** Number of missed events. */
  get missed(): number {
    return this.#missed;
  }

  offer(event: HostEvent): void {
    if (this.#waiting.length >= this.#capacity) {
      this.#missed += 1;
      this.#missedSince ??= event.seq;
      return;
    }
    this.#waiting.push(event);
    if (this.#isDraining) return;
    this.#isDraining = true;
    setImmediate(() => this.#drain());
  }

  /** Hands over what waits. */
  [Symbol.dispose](): void {
    this.#drain();
  }

  #drain(): void {
    this.#isDraining = false;
    const events = this.#waiting;
    this.#waiting = [];
    for (const event of events) this.#handle(event);
    if (this.#missedSince === undefined) return;
    const { name, logger } = this.#options;
    logger.warn({ subscriber: name, since: this.#missedSince, missed: this.#missed }, "a subscriber has missed events");
    this.#missedSince = undefined;
  }

  #handle(event: HostEvent): void {
    try {
      this.#options.handle(event);
    } catch (error) {
      const { name, logger } = this.#options;
      logger.error({ err: toError(error), subscriber: name, seq: event.seq }, "a subscriber failed on an event");
    }
  }
}
