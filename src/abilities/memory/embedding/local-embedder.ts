import { access } from "node:fs/promises";
import { join } from "node:path";

import { AppError, toError } from "../../../lib/app-error.ts";
import { ownModule } from "../../../lib/process/own-module.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { ProcessEnded } from "../../../processes/line.ts";
import { OwnProcess } from "../../../processes/own-process.ts";
import { embedder } from "../../../processes/protocol.ts";
import { Restarted } from "../../../processes/restarted.ts";
import type { Embedder } from "./embedder.ts";
import { localModel, weightsFile } from "./model-files.ts";

export interface WorkerTimes {
  /** Idle time after which the worker is ended. */
  readonly idleMs: number;
  /** One that has not answered for so long is killed. */
  readonly answerMs: number;
}

const usualTimes: WorkerTimes = { idleMs: 60_000, answerMs: 60_000 };

/**
 * Large pages for its weights: a turn waits a sixth less for the model, which reads all of them for each text. Where it
 * is not glibc, or the kernel gives none, nothing changes.
 */
const env = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

const limits = {
  startMs: 60_000,
  endMs: 0,
  messageBytes: 64 * 1024 * 1024,
  messagesPerSecond: 50_000,
  servedCalls: 0,
  openCalls: 10_000,
  waitingBytes: 64 * 1024 * 1024,
};

/** True when the local model is installed. */
export async function isModelInstalled(folder: string): Promise<boolean> {
  return access(join(folder, weightsFile)).then(
    () => true,
    () => false,
  );
}

/** Runs all-MiniLM-L6-v2 in a separate process, started on demand and ended when idle. */
export class LocalEmbedder implements Embedder {
  readonly model = localModel.name;
  readonly dimensions = localModel.dimensions;
  readonly isEnglish = true;
  readonly #times: WorkerTimes;
  readonly #processes: Restarted<OwnProcess<typeof embedder>>;

  constructor(folder: string, times: WorkerTimes = usualTimes) {
    this.#times = times;
    const main = ownModule("embedding-worker", import.meta);
    const launch = { main, args: [folder], env };
    this.#processes = new Restarted({
      start: () =>
        new OwnProcess({ name: "its process", launch, protocol: embedder, answers: {}, listeners: {}, limits }),
      idleMs: times.idleMs,
    });
  }

  /** The process that is at work. */
  get pid(): number | undefined {
    return this.#processes.running?.pid;
  }

  /** Resolves when the process has ended that is at work now, or at once. */
  get ended(): Promise<unknown> {
    return this.#processes.running?.exited ?? Promise.resolve();
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    signal?.throwIfAborted();
    try {
      return await this.#processes.use((process) => this.#ask(process, texts));
    } catch (error) {
      if (error instanceof ProcessEnded) throw workerFailure("its process has ended", true);
      throw workerFailure(toError(error).message);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]();
  }

  async #ask(process: OwnProcess<typeof embedder>, texts: readonly string[]): Promise<readonly Float32Array[]> {
    const deadline = setTimeout(() => process.kill("it took too long"), this.#times.answerMs);
    try {
      return await process.line.call("embed", texts);
    } finally {
      clearTimeout(deadline);
    }
  }
}

function workerFailure(why: string, passing = false): AppError {
  return new AppError("setup_required", `The local model for memories does not work: ${why}.`, {
    fix: `install it again: ${ownCommand("memory install-model")}`,
    passing,
  });
}
