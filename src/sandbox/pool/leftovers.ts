import type { Logger } from "pino";

import { toError } from "../../lib/app-error.ts";
import type { FoundContainer } from "./launch.ts";

export interface LeftoversOptions {
  readonly found: () => Promise<readonly FoundContainer[]>;
  /** True for the container that its session uses or will use. */
  readonly inUse: (container: FoundContainer) => boolean;
  readonly removed: (name: string, reason: string) => Promise<void>;
  readonly logger: Logger;
}

const retryMs = 5_000;

/**
 * Removes unused containers that could not be removed when they ended, or whose creation was never confirmed because
 * the engine was away.
 */
export class Leftovers implements AsyncDisposable {
  readonly #options: LeftoversOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #suspected = false;
  #closed = false;

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /** There may be something: it is looked for soon, and until the engine has answered. */
  suspect(): void {
    this.#suspected = true;
    if (this.#closed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#looking = this.#look().catch(() => this.suspect());
    }, retryMs).unref();
  }

  /** Resolves when the session has no container that runs or could: only then may it get the next one. */
  async removeOf(session: string): Promise<void> {
    const found = await this.#options.found();
    await this.#remove(found.filter((container) => container.session === session));
  }

  /** The last look. What an engine that is away keeps is removed at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    if (!this.#suspected) return;
    try {
      await this.#look();
    } catch (error) {
      this.#options.logger.error({ error: toError(error) }, "could not check for leftover containers");
    }
  }

  async #look(): Promise<void> {
    this.#suspected = false;
    const found = await this.#options.found();
    await this.#remove(found.filter((container) => !this.#options.inUse(container)));
  }

  async #remove(containers: readonly FoundContainer[]): Promise<void> {
    for (const container of containers) {
      await container.remove();
      await this.#options.removed(container.name, "it was left over");
    }
  }
}
