/**
 * Counts a group's reflected secrets by destination. A destination over the limit is closed to the group until the host
 * restarts, because each masked answer confirms a guess.
 */
export class Reflections {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();
  readonly #closing = new Map<string, AbortController>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a masked answer of `host:port`; true for the one that closes it. */
  count(destination: string): boolean {
    const count = (this.#counts.get(destination) ?? 0) + 1;
    this.#counts.set(destination, count);
    if (count !== this.#limit) return false;
    this.#closingOf(destination).abort();
    return true;
  }

  isClosed(destination: string): boolean {
    return this.#closingOf(destination).signal.aborted;
  }

  /** Aborts when the destination is closed. */
  signalOf(destination: string): AbortSignal {
    return this.#closingOf(destination).signal;
  }

  #closingOf(destination: string): AbortController {
    const known = this.#closing.get(destination) ?? new AbortController();
    this.#closing.set(destination, known);
    return known;
  }
}

/** Refusal for a closed destination. */
export function reflectsRefusal(destination: string): { status: 403; rule: "reflects"; detail: string } {
  const detail = `${destination} has sent back a secret that was added to a request, so it is blocked for this group until the host restarts`;
  return { status: 403, rule: "reflects", detail };
}
