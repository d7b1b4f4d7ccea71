import type { HotContainer } from "./hot-container.ts";
import type { PoolOptions } from "./pool-options.ts";

/** Takes the processor from idle containers and gives it back. */
export class Freezing {
  readonly #options: Pick<PoolOptions, "publish" | "logger">;
  #told = false;

  constructor(options: Pick<PoolOptions, "publish" | "logger">) {
    this.#options = options;
  }

  /** An idle container uses next to nothing without it too, so an engine that cannot pause is complained about once. */
  async freeze(hot: HotContainer | undefined): Promise<void> {
    try {
      if (!hot || !(await hot.freeze())) return;
      const { group, session, name } = hot.view();
      await this.#options.publish({ type: "container.frozen", group, session, actor: "host", data: { name } });
    } catch (error) {
      const level = this.#told ? "debug" : "warn";
      this.#told = true;
      this.#options.logger[level]({ error, container: hot?.view().name }, "an idle container could not be paused");
    }
  }

  async thaw(hot: HotContainer): Promise<void> {
    const begun = performance.now();
    if (!(await hot.thaw())) return;
    const { group, session, name } = hot.view();
    const data = { name, elapsedMs: Math.round(performance.now() - begun) };
    await this.#options.publish({ type: "container.thawed", group, session, actor: "host", data });
  }
}
