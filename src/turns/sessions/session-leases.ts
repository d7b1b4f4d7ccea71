import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

import type { Lease } from "../../domain/turns/lease.ts";
import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";

/** Longer than a host may be held up by anything but its end. */
const ttlMs = 120_000;

/** One that is forgotten is claimed again. */
const rememberedLeases = 4_096;

/** A lease in use; it is renewed until it is disposed of. */
export interface HeldLease extends Disposable {
  readonly lease: Lease;
  /** Aborts when another host has got the session. */
  readonly lost: AbortSignal;
}

/**
 * The sessions that this host works on. A lease is kept after a turn, as the next one mostly comes before it expires:
 * so most turns cost no write for it.
 */
export class SessionLeases {
  readonly #leases: Pick<Store["leases"], "claim">;
  /** Names this life of the host. */
  readonly #owner: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #logger: Logger;
  readonly #known = new LRUCache<string, Lease>({ max: rememberedLeases });

  constructor(options: {
    readonly leases: Pick<Store["leases"], "claim">;
    readonly owner: string;
    readonly clock: Pick<Clock, "now">;
    readonly logger: Logger;
  }) {
    this.#leases = options.leases;
    this.#owner = options.owner;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** Undefined while another host works on the session. */
  async hold(session: string): Promise<HeldLease | undefined> {
    const lease = await this.#claim(session);
    if (!lease) return undefined;
    const lost = new AbortController();
    const timer = setInterval(() => {
      void this.#renew(lease, lost);
    }, ttlMs / 3).unref();
    return { lease, lost: lost.signal, [Symbol.dispose]: () => clearInterval(timer) };
  }

  /** A failure is retried, and the lease is good for a while; whoever gets it meanwhile fences us. */
  async #renew({ session, generation }: Lease, lost: AbortController): Promise<void> {
    try {
      const renewed = await this.#claim(session);
      if (renewed?.generation !== generation) lost.abort(new Error(`the lease of session ${session} was lost`));
    } catch (error) {
      this.#logger.warn({ err: toError(error), session }, "a lease could not be renewed");
    }
  }

  async #claim(session: string): Promise<Lease | undefined> {
    const now = this.#clock.now();
    const known = this.#known.get(session);
    const leftMs = (known?.expiresAt ?? 0) - now;
    if (known && leftMs > ttlMs / 2 && leftMs <= ttlMs) return known;
    const lease = await this.#leases.claim(session, { owner: this.#owner, now, ttlMs });
    if (lease) this.#known.set(session, lease);
    else this.#known.delete(session);
    return lease;
  }
}
