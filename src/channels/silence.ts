import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Sleep } from "../lib/time/sleep.ts";
import type { Connection } from "./channel.ts";

export interface SilenceLimits {
  /** After so long a silence the platform is asked whether it is there. */
  readonly silenceMs: number;
  readonly probeMs: number;
}

/** Notices when a platform has fallen silent for good. A quiet chat is no dead link. */
export class Silence {
  readonly #options: { readonly clock: Clock; readonly wait: Sleep; readonly limits: SilenceLimits };
  #lastHeard = 0;

  constructor(options: { readonly clock: Clock; readonly wait: Sleep; readonly limits: SilenceLimits }) {
    this.#options = options;
  }

  /** The platform gave a sign of life. */
  heard(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  /** Resolves when a platform that has been silent for long does not answer either. */
  async watch(connection: Connection, over: AbortSignal): Promise<Error> {
    const { clock, wait, limits } = this.#options;
    if (!connection.probe) return new Promise<never>(() => undefined);
    for (;;) {
      const silentMs = clock.monotonic() - this.#lastHeard;
      await wait(Math.max(0, Math.ceil(limits.silenceMs - silentMs)), over);
      if (over.aborted) return new Error("the connection has ended");
      if (clock.monotonic() - this.#lastHeard < limits.silenceMs) continue;
      const failure = await this.#probe(connection, over);
      if (failure) return new Error(`nothing was received for a while, and ${failure.message}`);
      this.heard();
    }
  }

  async #probe(connection: Connection, over: AbortSignal): Promise<Error | undefined> {
    const { probeMs } = this.#options.limits;
    const answered = new AbortController();
    const signal = AbortSignal.any([over, answered.signal]);
    const silence = this.#options
      .wait(probeMs, signal)
      .then(() => new Error(`there was no answer within ${probeMs} ms`));
    const answer = async (): Promise<Error | undefined> => {
      await connection.probe?.(signal);
      return undefined;
    };
    try {
      return await Promise.race([silence, answer()]);
    } catch (error) {
      return toError(error);
    } finally {
      answered.abort();
    }
  }
}
