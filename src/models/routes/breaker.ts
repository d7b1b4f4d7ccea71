/** Closed: it is asked. Open: it is not. Probing: one call goes through, to see whether it answers again. */
type State =
  | { readonly kind: "closed" }
  | { readonly kind: "open"; readonly until: number; readonly waitMs: number }
  | { readonly kind: "probing"; readonly since: number; readonly waitMs: number };

interface Breaker {
  state: State;
  /** Outcomes of the last calls, newest last. */
  readonly outcomes: boolean[];
}

/** Failures in a row, or half of the last `windowSize`, that open the breaker. */
const failuresInRow = 5;
const watched = 20;
const firstWaitMs = 30_000;
const longestWaitMs = 300_000;
/** A probe that has not come back by then is forgotten, and another call may try. */
const probeMs = 60_000;

/**
 * Keeps a provider that is down from costing each turn its time: after 5 failures in a row, or 10 of the last 20, it is
 * passed over for 30 s, then one call tries it; each failure doubles the wait, up to 5 minutes. Times are of a clock
 * that never goes back, milliseconds.
 */
export class CircuitBreakers {
  readonly #now: () => number;
  readonly #byProvider = new Map<string, Breaker>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True when a call is allowed. A probe is allowed, too, and must be reported like any call. */
  mayAsk(provider: string): boolean {
    const breaker = this.#byProvider.get(provider);
    if (!breaker || breaker.state.kind === "closed") return true;
    const { state } = breaker;
    const now = this.#now();
    if (state.kind === "open" ? now < state.until : now < state.since + probeMs) return false;
    breaker.state = { kind: "probing", since: now, waitMs: state.waitMs };
    return true;
  }

  /** Seconds until the next probe; undefined while closed. */
  secondsLeft(provider: string): number | undefined {
    const state = this.#byProvider.get(provider)?.state;
    if (!state || state.kind === "closed") return undefined;
    const until = state.kind === "open" ? state.until : state.since + probeMs;
    return Math.max(1, Math.ceil((until - this.#now()) / 1000));
  }

  /** Reports a call's outcome, except for refused requests and aborted calls, which say nothing about the provider. */
  report(provider: string, answered: boolean): void {
    const breaker = this.#byProvider.get(provider) ?? { state: { kind: "closed" }, outcomes: [] };
    this.#byProvider.set(provider, breaker);
    if (answered) {
      if (breaker.state.kind !== "closed") breaker.outcomes.length = 0;
      breaker.state = { kind: "closed" };
    }
    breaker.outcomes.push(answered);
    if (breaker.outcomes.length > watched) breaker.outcomes.shift();
    if (!answered) this.#failed(breaker);
  }

  /** It may be another one by now. */
  forget(provider: string): void {
    this.#byProvider.delete(provider);
  }

  #failed(breaker: Breaker): void {
    const { state, outcomes } = breaker;
    const now = this.#now();
    if (state.kind === "probing") {
      const waitMs = Math.min(longestWaitMs, state.waitMs * 2);
      breaker.state = { kind: "open", until: now + waitMs, waitMs };
    } else if (state.kind === "closed" && isDown(outcomes)) {
      breaker.state = { kind: "open", until: now + firstWaitMs, waitMs: firstWaitMs };
    }
  }
}

function isDown(outcomes: readonly boolean[]): boolean {
  const inRow = outcomes.length - 1 - outcomes.lastIndexOf(true);
  const failed = outcomes.filter((answered) => !answered).length;
  return inRow >= failuresInRow || (outcomes.length >= watched && failed >= watched / 2);
}
