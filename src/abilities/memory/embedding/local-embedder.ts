import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { extname, join } from "node:path";

import { AppError } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import type { Embedder } from "./embedder.ts";
import { localModel, weightsFile } from "./model-files.ts";

export interface WorkerTimes {
  /** A worker that nobody has asked for so long is ended. */
  readonly idleMs: number;
  /** One that has not answered for so long is killed. */
  readonly answerMs: number;
}

const usualTimes: WorkerTimes = { idleMs: 60_000, answerMs: 60_000 };

/**
 * Large pages for its weights: a turn waits a sixth less for the model, which reads all of them for each text. Where it
 * is not glibc, or the kernel gives none, nothing changes.
 */
const environment = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

interface Asked {
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout;
}

type Answer = { readonly id: number } & ({ readonly vectors: Float32Array[] } | { readonly error: string });

/** Is the local model where `install-model` puts it? */
export async function isModelInstalled(folder: string): Promise<boolean> {
  return access(join(folder, weightsFile)).then(
    () => true,
    () => false,
  );
}

/** all-MiniLM-L6-v2 in a process of its own, which is started when it is first asked and ended when it is idle. */
export class LocalEmbedder implements Embedder {
  readonly model = localModel.name;
  readonly dimensions = localModel.dimensions;
  readonly isEnglish = true;
  readonly #folder: string;
  readonly #times: WorkerTimes;
  readonly #asked = new Map<number, Asked>();
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(folder: string, times: WorkerTimes = usualTimes) {
    this.#folder = folder;
    this.#times = times;
  }

  /** The process that is at work. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the process has ended that is at work now, or at once. */
  get ended(): Promise<unknown> {
    return this.#exited;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    signal?.throwIfAborted();
    const child = (this.#child ??= this.#start());
    clearTimeout(this.#idle);
    const id = this.#nextId++;
    return new Promise<Float32Array[]>((resolve, reject) => {
      const deadline = setTimeout(() => child.kill("SIGKILL"), this.#times.answerMs);
      this.#asked.set(id, { resolve, reject, deadline });
      child.send({ id, texts }, (error) => {
        if (error !== null) this.#settle(id, (asked) => asked.reject(workerFailure(error.message)));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle);
    this.#child?.kill("SIGKILL");
    await this.#exited;
  }

  #start(): ChildProcess {
    const child = fork(new URL(`embedding-worker${extname(import.meta.filename)}`, import.meta.url), [this.#folder], {
      env: environment,
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("message", (message) => this.#heard(message as Answer));
    this.#exited = Promise.race([once(child, "exit"), once(child, "error")]).then(
      () => this.#ended(child),
      () => this.#ended(child),
    );
    return child;
  }

  #heard(answer: Answer): void {
    this.#settle(answer.id, ({ resolve, reject }) => {
      if ("vectors" in answer) resolve(answer.vectors);
      else reject(workerFailure(answer.error));
    });
    if (this.#asked.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#child?.kill("SIGKILL"), this.#times.idleMs).unref();
  }

  #ended(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
    for (const id of this.#asked.keys())
      this.#settle(id, ({ reject }) => reject(workerFailure("its process has ended", true)));
  }

  #settle(id: number, how: (asked: Asked) => void): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    clearTimeout(asked.deadline);
    how(asked);
  }
}

function workerFailure(why: string, passing = false): AppError {
  return new AppError("setup_required", `The local model for memories does not work: ${why}.`, {
    fix: `install it again: ${ownCommand("memory install-model")}`,
    passing,
  });
}
