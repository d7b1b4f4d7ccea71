import { RateLimiter } from "../../lib/time/rate-limiter.ts";

/** Limits of a group's egress. */
export interface EgressLimits {
  /** Tunnels at the same time. */
  readonly tunnels: number;
  /** Requests in a minute; those beyond are answered and not put on record one by one. */
  readonly requestsPerMinute: number;
  /** Both directions together. */
  readonly bytesPerTunnel: number;
  readonly bytesPerDay: number;
  /** For the request, and again for the ClientHello. */
  readonly handshakeMs: number;
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  readonly tunnelMs: number;
  /** Answers of one destination that held a secret; then it is closed to the group. */
  readonly maskedAnswers: number;
}

export const defaultEgressLimits: EgressLimits = {
  tunnels: 32,
  requestsPerMinute: 600,
  bytesPerTunnel: 1024 ** 3,
  bytesPerDay: 4 * 1024 ** 3,
  handshakeMs: 10_000,
  connectMs: 10_000,
  idleMs: 120_000,
  tunnelMs: 60 * 60_000,
  maskedAnswers: 3,
};

/** Counts what one group uses. Days are those of UTC; the count of a day is not kept over a restart of the host. */
export class EgressMeter {
  readonly #limits: EgressLimits;
  readonly #now: () => number;
  #tunnels = 0;
  #day = -1;
  #bytesToday = 0;
  readonly #elapsed: () => number;
  readonly #requests: RateLimiter;

  /** `now` is the wall clock, `elapsed` the monotonic one; both in milliseconds. */
  constructor(limits: EgressLimits, { now, elapsed }: { readonly now: () => number; readonly elapsed: () => number }) {
    this.#limits = limits;
    this.#now = now;
    this.#elapsed = elapsed;
    // Closed until as many may come again: each time it closes is put on record.
    const count = limits.requestsPerMinute;
    this.#requests = new RateLimiter({ count, periodMs: 60_000, reopenAt: count });
  }

  /** `first-over`: the first request beyond the limit. */
  countRequest(): "within" | "first-over" | "over" {
    const { waitMs, refused } = this.#requests.take(this.#elapsed());
    if (waitMs === 0) return "within";
    return refused === 1 ? "first-over" : "over";
  }

  /** Takes a place for a tunnel, or says which limit is in the way. */
  enter(): Disposable | "tunnels" | "bytes-per-day" {
    if (this.#tunnels >= this.#limits.tunnels) return "tunnels";
    if (this.#today() >= this.#limits.bytesPerDay) return "bytes-per-day";
    this.#tunnels += 1;
    let inside = true;
    return {
      [Symbol.dispose]: () => {
        if (inside) this.#tunnels -= 1;
        inside = false;
      },
    };
  }

  /** False when this was more than the day allows. */
  addBytes(count: number): boolean {
    this.#bytesToday = this.#today() + count;
    return this.#bytesToday <= this.#limits.bytesPerDay;
  }

  #today(): number {
    const day = Math.floor(this.#now() / 86_400_000);
    if (day !== this.#day) {
      this.#day = day;
      this.#bytesToday = 0;
    }
    return this.#bytesToday;
  }
}
