import type { Logger } from "pino";

import { isPassing, toError } from "../lib/app-error.ts";
import { backoffMs } from "../lib/time/backoff.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { Store } from "./contract/store.ts";

/** Members of a store that turns are not worked on with: whoever calls them learns of trouble at once. */
const failAtOnce: ReadonlySet<string> = new Set([
  "intake",
  "retention",
  "chats",
  "requests",
  "commands",
  "blobs",
  "channelState",
  "audit",
  "events",
  "settings",
  "erasure",
] satisfies (keyof Store)[]);

const backoff = { firstMs: 100, longestMs: 2_000 };

/**
 * A store that waits out trouble of the machine, such as a full disk or a locked file: failed calls are retried until
 * they work or are given up. Used by turns, so that they wait instead of failing.
 */
export class RetryingStore {
  readonly store: Store;
  readonly #logger: Logger;
  readonly #onTrouble: (error: unknown) => void;
  readonly #over = new AbortController();

  constructor(
    store: Store,
    options: {
      readonly logger: Logger;
      /** Called with each failure that is retried. */
      readonly onTrouble: (error: unknown) => void;
    },
  ) {
    this.#logger = options.logger;
    this.#onTrouble = options.onTrouble;
    const members = Object.entries(store).map(([name, member]: [string, unknown]) => {
      const fails = failAtOnce.has(name) || typeof member !== "object" || member === null;
      return [name, fails ? member : this.#retrying(member)];
    });
    this.store = { ...store, ...(Object.fromEntries(members) as Store) };
  }

  /** From now on what fails, fails. */
  giveUp(): void {
    this.#over.abort();
  }

  /** Retries anything else that fails by the same trouble. */
  async retry<T>(action: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await action();
      } catch (error) {
        if (!isPassing(error) || this.#over.signal.aborted) throw error;
        this.#onTrouble(error);
        const delayMs = backoffMs(backoff, failures);
        this.#logger.debug({ err: toError(error), retryInMs: delayMs }, "retrying");
        await sleep(delayMs, this.#over.signal);
      }
    }
  }

  /** Returns a function that retries this one. */
  retried<Given extends readonly unknown[], Result>(
    action: (...given: Given) => Promise<Result>,
  ): (...given: Given) => Promise<Result> {
    return (...given) => this.retry(() => action(...given));
  }

  #retrying<Member extends object>(member: Member): Member {
    return new Proxy(member, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name, target);
        if (typeof method !== "function") return method;
        return (...given: unknown[]) => this.retry(async () => (await method.apply(target, given)) as unknown);
      },
    });
  }
}
