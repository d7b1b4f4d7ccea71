import type { HotContainer } from "./hot-container.ts";
import type { PoolParts } from "./pool-parts.ts";

/** Takes the processor from idle containers and gives it back. */
export class Freezing {
  readonly #parts: Pick<PoolParts, "events" | "logger">;
  #told = false;

  constructor(parts: Pick<PoolParts, "events" | "logger">) {
    this.#parts = parts;
  }

  /** An idle container uses next to nothing without it too, so an engine that cannot pause is complained about once. */
  async freeze(hot: HotContainer | undefined): Promise<void> {
    try {
      if (hot && (await hot.freeze())) this.#parts.events.froze(hot.view());
    } catch (error) {
      const level = this.#told ? "debug" : "warn";
      this.#told = true;
      this.#parts.logger[level]({ error, container: hot?.view().name }, "an idle container could not be paused");
    }
  }

  async thaw(hot: HotContainer): Promise<void> {
    const begun = performance.now();
    if (await hot.thaw()) this.#parts.events.thawed(hot.view(), performance.now() - begun);
  }
}
