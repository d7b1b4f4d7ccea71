import type * as z from "zod";

import type { EmbedderSource } from "../../../domain/settings/embedder-source.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { ownModule } from "../../../lib/process/own-module.ts";
import { appFailures } from "../../../processes/failures.ts";
import { OwnThread } from "../../../processes/own-thread.ts";
import { memoryThread } from "../../../processes/protocol.ts";
import { Restarted } from "../../../processes/restarted.ts";
import type { Weights } from "../search/hybrid.ts";
import type { SlowVectors } from "../../../processes/memory-schemas.ts";

export interface MemoryThreadOptions {
  readonly place: EmbedderSource;
  readonly weights: Weights;
  /** Called once when vectors are compared more slowly than possible. */
  readonly onSlow?: ((slow: SlowVectors) => void) | undefined;
}

type Calls = typeof memoryThread.process.calls;

/** The memory in one group's file, from the host's side. */
export type MemoryAt = {
  readonly [Name in keyof Calls]: (
    ...parameters: z.input<Calls[Name]["input"]>["parameters"]
  ) => Promise<z.output<Calls[Name]["output"]>>;
};

/** Calls that wait at once; more are refused. */
const mostOpen = 1_000;

/**
 * Lets a thread work on the memories of groups, so that nothing of it holds the host up. The thread begins with the
 * first call, and again after it has failed.
 */
export class MemoryClient implements AsyncDisposable {
  readonly #threads: Restarted<OwnThread<typeof memoryThread>>;

  constructor({ place, weights, onSlow }: MemoryThreadOptions) {
    const start = (): OwnThread<typeof memoryThread> =>
      new OwnThread({
        name: "its thread",
        main: ownModule("memory-thread", import.meta),
        data: { place, weights },
        protocol: memoryThread,
        answers: {},
        listeners: { slow: (slow) => onSlow?.(slow) },
        limits: { servedCalls: 0, openCalls: mostOpen, waitingBytes: Infinity },
        failures: appFailures,
      });
    this.#threads = new Restarted({ start });
  }

  /** The memory in this file. Everything rejects with AppErrors; `passing` ones may work later. */
  at(path: string): MemoryAt {
    const names = Object.keys(memoryThread.process.calls) as (keyof Calls)[];
    const entries = names.map((name) => [name, (...parameters: never) => this.#call(name, { path, parameters })]);
    return Object.fromEntries(entries) as MemoryAt;
  }

  /** Lets the thread finish what it was told. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads[Symbol.asyncDispose]();
  }

  async #call(name: keyof Calls, value: { readonly path: string; readonly parameters: never }): Promise<unknown> {
    try {
      const { line } = await this.#threads.get();
      return await line.call(name, value);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("store_failed", `The memory cannot be used: ${toError(error).message}.`, { passing: true });
    }
  }
}
