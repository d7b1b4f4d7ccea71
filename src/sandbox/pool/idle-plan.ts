/** Timing of idle containers. */
export interface IdlePlanOptions {
  /** Until it is frozen (0: never), and until it is ended. */
  readonly times: () => { readonly freezeMs: number; readonly stopMs: number };
  readonly freeze: (session: string) => void;
  readonly stop: (session: string) => void;
}

/** At most one timer for each idle container: until it is frozen, then until it is ended. */
export class IdlePlan {
  readonly #options: IdlePlanOptions;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: IdlePlanOptions) {
    this.#options = options;
  }

  /** The container is idle from now on. */
  begin(session: string): void {
    const { times, freeze } = this.#options;
    const { freezeMs, stopMs } = times();
    if (freezeMs === 0 || freezeMs >= stopMs) return this.#stopAfter(session, stopMs);
    this.#after(session, freezeMs, () => {
      freeze(session);
      this.#stopAfter(session, stopMs - freezeMs);
    });
  }

  /** Forgets a container that is in use again, or gone. */
  end(session: string): void {
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
  }

  #stopAfter(session: string, ms: number): void {
    this.#after(session, ms, () => this.#options.stop(session));
  }

  #after(session: string, ms: number, act: () => void): void {
    this.end(session);
    this.#timers.set(session, setTimeout(act, ms).unref());
  }
}
