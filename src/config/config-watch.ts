import type { FSWatcher } from "chokidar";
import type { Logger } from "pino";

import { toError } from "../lib/app-error.ts";
import { ownCommand } from "../lib/own-command.ts";

/** Editors write in several steps; a change counts when nothing has happened for so long, */
const quietMs = 250;
/** but at the latest after so long: somebody may write all the time. */
const mostMs = 2_000;
/** After a start: the watcher's code is not loaded before there is time for it. */
const loadAfterMs = 1_000;

export interface ConfigWatchOptions {
  /** Files that may be there, or not, or be replaced. */
  readonly files: readonly string[];
  /** Something may have changed in one of them, or did before they were watched. Must not throw. */
  readonly changed: () => void;
  readonly logger: Logger;
}

/** Tells when one of a few files changes, from a moment after the start on. Nothing is polled. */
export class ConfigWatch implements AsyncDisposable {
  readonly #options: ConfigWatchOptions;
  readonly #loadTimer: NodeJS.Timeout;
  #opening: Promise<FSWatcher | undefined> | undefined;
  #isOver = false;
  #quiet: NodeJS.Timeout | undefined;
  #since: number | undefined;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
    this.#loadTimer = setTimeout(() => {
      this.#opening = this.#open();
    }, loadAfterMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#loadTimer);
    clearTimeout(this.#quiet);
    const watcher = await this.#opening;
    await watcher?.close();
  }

  async #open(): Promise<FSWatcher | undefined> {
    const { logger, files } = this.#options;
    const onError = (error: unknown): void =>
      logger.warn(
        { err: toError(error) },
        `config.yaml cannot be watched; \`${ownCommand("config apply")}\` reads it again`,
      );
    try {
      const { watch } = await import("chokidar");
      if (this.#isOver) return undefined;
      const watcher = watch([...files], { ignoreInitial: true, depth: 0, atomic: false, usePolling: false });
      watcher.on("error", onError).on("all", () => this.#noticed());
      watcher.once("ready", () => this.#noticed());
      return watcher;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  #noticed(): void {
    if (this.#isOver) return;
    const now = performance.now();
    this.#since ??= now;
    clearTimeout(this.#quiet);
    const leftMs = this.#since + mostMs - now;
    this.#quiet = setTimeout(() => this.#tell(), Math.max(0, Math.min(quietMs, leftMs)));
  }

  #tell(): void {
    this.#since = undefined;
    this.#options.changed();
  }
}
