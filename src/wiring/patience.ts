import type { Logger } from "pino";

import { isPassing, toError } from "../lib/app-error.ts";
import { waitOnTimer } from "../lib/wait.ts";
import type { Store } from "../stores/store.ts";
import type { AppContext } from "./context.ts";

const retryMs = { first: 100, most: 2_000 };

/**
 * Tries again what failed by trouble of the machine (a full disk, a store that somebody holds), until it works or until it
 * is told to give up. Work on turns is done with it, so that a turn waits for the trouble to pass instead of ending by it.
 */
export class Patience {
  readonly #logger: Logger;
  readonly #onTrouble: (error: unknown) => void;
  readonly #over = new AbortController();

  constructor(parts: { readonly logger: Logger; readonly onTrouble: (error: unknown) => void }) {
    this.#logger = parts.logger;
    this.#onTrouble = parts.onTrouble;
  }

  /** From now on what fails, fails. */
  giveUp(): void {
    this.#over.abort();
  }

  /** The same parts, with a store and an audit log that are waited for. */
  applyTo(context: AppContext): AppContext {
    const { publish } = context;
    return {
      ...context,
      store: this.#patientStore(context.store),
      publish: (event) => this.#insist(() => publish(event)),
    };
  }

  #patientStore(store: Store): Store {
    return {
      ...store,
      messages: this.#patient(store.messages),
      groups: this.#patient(store.groups),
      sessions: this.#patient(store.sessions),
      leases: this.#patient(store.leases),
      turns: this.#patient(store.turns),
      work: this.#patient(store.work),
      outbox: this.#patient(store.outbox),
      usage: this.#patient(store.usage),
    };
  }

  #patient<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...values: unknown[]) => this.#insist(async () => Reflect.apply(member, target, values) as unknown);
      },
    });
  }

  async #insist<T>(action: () => Promise<T>): Promise<T> {
    for (let delayMs = retryMs.first; ; delayMs = Math.min(delayMs * 2, retryMs.most)) {
      try {
        return await action();
      } catch (error) {
        if (!isPassing(error) || this.#over.signal.aborted) throw error;
        this.#onTrouble(error);
        this.#logger.debug({ err: toError(error), retryInMs: delayMs }, "it is tried again");
        await waitOnTimer(delayMs, this.#over.signal);
      }
    }
  }
}
