import { lstatSync, watch } from "node:fs";
import type { FSWatcher, Stats } from "node:fs";
import { basename, dirname } from "node:path";

import type { Logger } from "pino";

import { errorCode, toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { Timers } from "../../lib/time/timers.ts";

/** Editors write in several steps; a change counts when nothing has happened for so long, */
const quietMs = 250;
/** Maximum delay, as somebody may write all the time. */
const mostMs = 2_000;
/** Pause after an unrelated change in the folder. */
const restMs = 1_000;

export interface ConfigWatchOptions {
  /** Files that may be there, or not, or be replaced. */
  readonly files: readonly string[];
  /** Something may have changed in one of them, or did before they were watched. Must not throw. */
  readonly changed: () => void;
  readonly logger: Logger;
}

/**
 * Tells when one of a few files changes. Nothing is polled, and the folder is watched only while a file is missing:
 * other programs' files and the database's change in it all the time. Even then it wakes the host at most once a
 * second. chokidar 6 watches the folder always; each change of another file there costs it 24 to 90 µs, several times
 * in every message.
 */
export class ConfigWatch implements AsyncDisposable {
  readonly #options: ConfigWatchOptions;
  readonly #watchers = new Map<string, FSWatcher[]>();
  readonly #timers = new Timers();
  #isOver = false;
  #quiet: NodeJS.Timeout | undefined;
  #since: number | undefined;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
    for (const file of options.files) this.#watch(file);
    this.#noticed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#quiet);
    this.#timers[Symbol.dispose]();
    for (const file of this.#options.files) this.#unwatch(file);
  }

  /**
   * A watch stays with the file that it began with, so it begins anew after each change: there may be another by that
   * name.
   */
  #watch(file: string): void {
    this.#unwatch(file);
    try {
      const watchers = [this.#watchFile(file), this.#watchPlace(file)].filter((watcher) => watcher !== undefined);
      for (const watcher of watchers) watcher.on("error", (error) => this.#failed(error));
      this.#watchers.set(file, watchers);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Undefined when there is no such file. */
  #watchFile(file: string): FSWatcher | undefined {
    try {
      return watch(file, () => this.#noticed());
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Undefined when there is a file, which then tells itself when it is replaced; a link does not. */
  #watchPlace(file: string): FSWatcher | undefined {
    const entry = lstatSync(file, { throwIfNoEntry: false });
    if (entry?.isSymbolicLink() === false) return undefined;
    const place = watch(dirname(file), (_, name) => {
      if (name === null || name === basename(file)) return this.#noticed();
      place.close();
      this.#timers.after(restMs, () => this.#lookAgain(file, entry));
    });
    return place;
  }

  /** Checks the file after a pause, which has no events. `before`: the file at its start. */
  #lookAgain(file: string, before: Stats | undefined): void {
    this.#watch(file);
    try {
      const now = lstatSync(file, { throwIfNoEntry: false });
      if (now?.ino !== before?.ino || now?.ctimeMs !== before?.ctimeMs) this.#noticed();
    } catch (error) {
      this.#failed(error);
    }
  }

  #unwatch(file: string): void {
    for (const watcher of this.#watchers.get(file) ?? []) watcher.close();
    this.#watchers.delete(file);
  }

  #failed(error: unknown): void {
    this.#options.logger.warn(
      { err: toError(error) },
      `config.yaml cannot be watched; \`${ownCommand("config apply")}\` reads it again`,
    );
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
    for (const file of this.#options.files) this.#watch(file);
    this.#options.changed();
  }
}
