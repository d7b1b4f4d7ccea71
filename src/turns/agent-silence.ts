/** Pings within the longest silence. */
const pingsPerSilence = 2;

export interface AgentSilenceOptions {
  /** The longest silence: after something that the agent must react to at once, and to pings. */
  readonly limitMs: number;
  /** Pings the agent; false while there is none. */
  readonly ping: () => boolean;
  /** It has been silent for too long. */
  readonly fell: () => void;
}

/** Notices when the agent gives no sign of life, while it has to react and while it may be long at work. */
export class AgentSilence implements Disposable {
  readonly #options: AgentSilenceOptions;
  readonly #pings: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | undefined;
  #unansweredPings = 0;
  #isDisposed = false;

  constructor(options: AgentSilenceOptions) {
    this.#options = options;
    this.#pings = setInterval(() => this.#ping(), options.limitMs / pingsPerSilence);
  }

  /** The agent is told something that it must react to at once. Has no effect once the turn has ended. */
  told(): void {
    if (this.#isDisposed) return;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(this.#options.fell, this.#options.limitMs);
  }

  /** The agent lives. A pong does not say that it got what it has to react to. */
  heard(what: "pong" | "message"): void {
    this.#unansweredPings = 0;
    if (what === "message") clearTimeout(this.#deadline);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearInterval(this.#pings);
    clearTimeout(this.#deadline);
  }

  #ping(): void {
    if (this.#unansweredPings >= pingsPerSilence) return this.#options.fell();
    if (this.#options.ping()) this.#unansweredPings += 1;
  }
}
