import type { Logger } from "pino";

import { AppError, toError } from "../../lib/app-error.ts";
import { sleep } from "../../lib/time/sleep.ts";

const retryMs = 1_000;

export interface EngineWaitOptions {
  /** Asks the engine for everything that turns need; rejects with `engine_unavailable` while it is away. */
  readonly prepare: () => Promise<void>;
  /** True when a person at the terminal should be told about the wait. */
  readonly mayWait: boolean;
  readonly logger: Logger;
}

/** Lets turns wait for an engine that is unavailable when the host starts. Disposal stops waiting. */
export class EngineWait implements AsyncDisposable {
  readonly #options: EngineWaitOptions;
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  #trying: Promise<void> | undefined;

  private constructor(options: EngineWaitOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the engine is ready, or when it is known that it must be waited for; rejects with all other failures.
   */
  static async begin(options: EngineWaitOptions): Promise<EngineWait> {
    const wait = new EngineWait(options);
    try {
      await options.prepare();
      wait.#ready.resolve();
    } catch (error) {
      const isAway = error instanceof AppError && error.code === "engine_unavailable";
      if (!isAway || !options.mayWait) throw error;
      options.logger.warn(
        { reason: error.message, fix: error.fix },
        "the container engine is unavailable; turns wait for it",
      );
      wait.#trying = wait.#tryOn();
    }
    return wait;
  }

  /** Resolves when turns can be run, and when the signal aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const onAbort = (): void => aborted.resolve();
    if (signal.aborted) return;
    signal.addEventListener("abort", onAbort, { once: true });
    await Promise.race([this.#ready.promise, aborted.promise]);
    signal.removeEventListener("abort", onAbort);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#trying;
  }

  async #tryOn(): Promise<void> {
    const { signal } = this.#stop;
    for (let told = ""; ;) {
      await sleep(retryMs, signal);
      if (signal.aborted) return;
      try {
        await this.#options.prepare();
        this.#options.logger.info("the container engine is available again; turns continue");
        return this.#ready.resolve();
      } catch (error) {
        const { message } = toError(error);
        if (message !== told)
          this.#options.logger.warn({ reason: message }, "turns still wait for the container engine");
        told = message;
      }
    }
  }
}
