import type { Logger } from "pino";

import { type Group, workFolder } from "../../../domain/chats/group.ts";
import { toError } from "../../../lib/app-error.ts";
import { PendingWork } from "../../../lib/pending-work.ts";
import { Timers } from "../../../lib/time/timers.ts";
import type { MemoryAt } from "../thread/memory-client.ts";

/** The surroundings of work on memories that waits until groups are quiet. */
export interface QuietWorkOptions {
  /** By the name of the folder in which its agent works. */
  readonly memoryOf: (folder: string) => MemoryAt;
  /** Nothing waits and nothing runs in the group. */
  readonly isIdle: (group: Group) => Promise<boolean>;
  readonly logger: Logger;
  /** Time that a group has to be quiet. */
  readonly quietMs?: number | undefined;
}

interface WhenQuietOptions extends Pick<QuietWorkOptions, "isIdle" | "logger" | "quietMs"> {
  /** Does the due work. Resolves to the milliseconds until the next call; undefined: after the next `wait`. */
  readonly work: (group: Group, signal: AbortSignal) => Promise<number | undefined>;
  /** Says in the log what has failed, which is retried in five minutes. */
  readonly failure: string;
}

const usualQuietMs = 5_000;
/** Maximum timer, as clocks may change and machines sleep. */
const longestMs = 3_600_000;
const retryMs = 5 * 60_000;

/**
 * Work for groups that waits until they are quiet: one timer and one piece of work at a time for each, and for each of
 * a group's agents.
 */
export class WhenQuiet implements AsyncDisposable {
  readonly #options: WhenQuietOptions;
  readonly #timers = new Timers();
  /** By the folder in which the group's agent works. */
  readonly #waiting = new Map<string, Disposable>();
  readonly #working = new Set<string>();
  readonly #ended = new AbortController();
  readonly #pending = new PendingWork(() => undefined);

  constructor(options: WhenQuietOptions) {
    this.#options = options;
  }

  /** Schedules work after a delay of at most an hour, and not before the group has been quiet. */
  wait(group: Group, ms = 0): void {
    this.cancel(group);
    const name = workFolder(group);
    const quietMs = this.#options.quietMs ?? usualQuietMs;
    const timer = this.#timers.after(Math.min(Math.max(ms, quietMs), Math.max(longestMs, quietMs)), () => {
      this.#waiting.delete(name);
      if (this.#working.has(name)) this.wait(group);
      else this.#pending.add(this.#work(group));
    });
    this.#waiting.set(name, timer);
  }

  cancel(group: Group): void {
    const name = workFolder(group);
    this.#waiting.get(name)?.[Symbol.dispose]();
    this.#waiting.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#timers[Symbol.dispose]();
    await this.#pending.done();
  }

  async #work(group: Group): Promise<void> {
    const name = workFolder(group);
    this.#working.add(name);
    let nextMs: number | undefined = retryMs;
    try {
      nextMs = (await this.#options.isIdle(group)) ? await this.#options.work(group, this.#ended.signal) : 0;
    } catch (error) {
      const about = { err: toError(error), group: group.name };
      if (!this.#ended.signal.aborted) this.#options.logger.warn(about, this.#options.failure);
    } finally {
      this.#working.delete(name);
    }
    // Something may have stirred meanwhile, and waits already.
    if (nextMs !== undefined && !this.#waiting.has(name)) this.wait(group, nextMs);
  }
}
