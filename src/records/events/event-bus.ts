import { EventEmitter, once } from "node:events";

import type { Logger } from "pino";

import { boundedData, boundedName } from "../../lib/text/bounded-data.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { HostEvent, NewEvent } from "../../domain/events/event.ts";
import { Subscription } from "./subscription.ts";

export interface EventBusOptions {
  readonly store: Pick<Store["events"], "append">;
  /** Puts an event on record, if its type is audited; resolves when that is on disk. */
  readonly record: (event: NewEvent) => Promise<void>;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/**
 * Publishes each event once. Durable subscribers, the event store and the audit log, have it before `publish` resolves;
 * others a moment later. Secrets are removed first.
 */
export class EventBus implements Disposable {
  readonly #options: EventBusOptions;
  readonly #subscriptions: Subscription[] = [];
  readonly #appended = new EventEmitter().setMaxListeners(0);
  /** Events that are stored and not yet on record: one that is published again after a failure is not stored twice. */
  readonly #stored = new WeakMap<NewEvent, NewEvent>();

  constructor(options: EventBusOptions) {
    this.#options = options;
  }

  /** See `Publish`. Events are stored, and put on record, in the order of the calls. */
  readonly publish = async (event: NewEvent): Promise<void> => {
    await this.#options.record(this.#stored.get(event) ?? (await this.#append(event)));
  };

  /** Passes every later event to `handle`; its errors are logged. */
  subscribe(name: string, handle: (event: HostEvent) => void, capacity?: number): Subscription {
    const subscription = new Subscription({ name, handle, logger: this.#options.logger, capacity });
    this.#subscriptions.push(subscription);
    return subscription;
  }

  /** Resolves when the next event has been stored, or at the signal. Never rejects. */
  async next(signal: AbortSignal): Promise<void> {
    await once(this.#appended, "event", { signal }).catch(() => undefined);
  }

  /** Hands over what passing subscribers have not got yet. */
  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  async #append(event: NewEvent): Promise<NewEvent> {
    const { store, clock, redact } = this.#options;
    const clean = cleaned(event, redact);
    const at = clock.now();
    const seq = await store.append(clean, at);
    this.#stored.set(event, clean);
    for (const subscription of this.#subscriptions) subscription.offer({ ...clean, seq, at });
    this.#appended.emit("event");
    return clean;
  }
}

function cleaned(event: NewEvent, redact: (text: string) => string): NewEvent {
  const { group, session, turn } = event;
  // Bounding keeps the shape of what has a sensible size; what is larger is only shown.
  return {
    type: event.type,
    ...(group !== undefined && { group: boundedName(group, redact) }),
    ...(session !== undefined && { session: boundedName(session, redact) }),
    ...(turn !== undefined && { turn: boundedName(turn, redact) }),
    actor: boundedName(event.actor, redact),
    data: boundedData(event.data, redact),
  } as NewEvent;
}
