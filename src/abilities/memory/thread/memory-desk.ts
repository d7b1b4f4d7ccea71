import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { EmbedderPlace } from "../../../domain/settings/embedder-place.ts";
import type { Weights } from "../search/hybrid.ts";
import type { SlowVectors } from "../index/vectors/open-vectors.ts";
import type { Answer, Notice, Order } from "./messages.ts";
import type { MemoryOrders } from "./orders.ts";

export interface MemoryDeskOptions {
  readonly place: EmbedderPlace;
  readonly weights: Weights;
  /** Told once when vectors are compared more slowly than they could be. */
  readonly onSlow?: ((slow: SlowVectors) => void) | undefined;
}

/** The same as the thread does it, from the host's side. */
export type MemoryAt = {
  readonly [Name in keyof MemoryOrders]: (
    ...parameters: Parameters<MemoryOrders[Name]>
  ) => Promise<Awaited<ReturnType<MemoryOrders[Name]>>>;
};

const orderNames: readonly (keyof MemoryOrders)[] = [
  "standing",
  "advance",
  "unextracted",
  "foresee",
  "saidBetween",
  "search",
  "recall",
  "get",
  "list",
  "forget",
  "forgetPerson",
  "planCleaning",
  "noteAnnounced",
  "cleanSome",
  "checkIndex",
  "endCleaning",
];

/** Orders that wait at once; more are refused. */
const mostOpen = 1_000;

/**
 * Lets a thread of its own work on the memories of groups, so that nothing of it holds the host up. The thread begins
 * with the first order, and again after it has failed.
 */
export class MemoryDesk implements AsyncDisposable {
  readonly #options: MemoryDeskOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #worker: Worker | undefined;
  #last = 0;
  #isOver = false;

  constructor(options: MemoryDeskOptions) {
    this.#options = options;
  }

  /** Of the group whose file this is. Everything rejects with AppErrors; `passing` ones may work later. */
  at(path: string): MemoryAt {
    const entries = orderNames.map((name) => [name, (...parameters: unknown[]) => this.#order(path, name, parameters)]);
    return Object.fromEntries(entries) as MemoryAt;
  }

  /** Lets the thread finish what it was told. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const worker = this.#worker;
    if (!worker) return;
    worker.ref();
    const exited = once(worker, "exit");
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage("end");
    await exited;
  }

  #order(path: string, name: Order["name"], parameters: readonly unknown[]): Promise<unknown> {
    if (this.#isOver) return Promise.reject(failure("the host is stopping"));
    if (this.#waiting.size >= mostOpen) return Promise.reject(failure("too much is asked of it at once"));
    const worker = (this.#worker ??= this.#start());
    this.#last += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#last, waiting);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage({ id: this.#last, path, name, parameters } satisfies Order);
    return waiting.promise;
  }

  #start(): Worker {
    const file = new URL(`memory-thread${extname(import.meta.filename)}`, import.meta.url);
    const { place, weights } = this.#options;
    const worker = new Worker(file, { workerData: { place, weights }, env: {}, name: "memory" });
    worker.unref();
    let why = "its thread has ended";
    worker.on("message", (said: Answer | Notice) => this.#heard(said));
    worker.on("error", (error) => (why = toError(error).message));
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(failure(why));
      this.#waiting.clear();
    });
    return worker;
  }

  #heard(answer: Answer | Notice): void {
    if ("slow" in answer) return this.#options.onSlow?.(answer.slow);
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("result" in answer) return waiting?.resolve(answer.result);
    const { code, message, fix, passing } = answer.error;
    waiting?.reject(new AppError(code, message, { ...(fix !== undefined && { fix }), passing }));
  }
}

function failure(why: string): AppError {
  return new AppError("store_failed", `The memory cannot be used: ${why}.`, { passing: true });
}
