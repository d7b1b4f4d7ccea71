import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import type { HostileCopy } from "../../lib/files/open-hostile-file.ts";
import { rejectAt } from "../../lib/time/reject-at.ts";
import { InvalidAnswer } from "../../processes/line.ts";
import { Restarted } from "../../processes/restarted.ts";
import { toError } from "../../lib/app-error.ts";
import { MediaError } from "./media-error.ts";
import type { MediaOperation, MediaRequest, MediaResult } from "./media-error.ts";
import type { MediaProcess } from "./process/media-process.ts";

export interface MediaLimits {
  /** Memory limit of the process. */
  readonly memoryMb: number;
  /** For one request. */
  readonly requestMs: number;
  /** Idle time after which the process is ended. */
  readonly idleMs: number;
  /** Requests that wait for their turn. */
  readonly mostWaiting: number;
  /** Maximum bytes of a written file. */
  readonly outputBytes: number;
}

export const mediaLimits: MediaLimits = {
  memoryMb: 1_024,
  requestMs: 30_000,
  idleMs: 30_000,
  mostWaiting: 64,
  outputBytes: 64 * 1024 * 1024,
};

export interface MediaOptions {
  /** Private folder of the host, created on demand and emptied at start. */
  readonly folder: string;
  readonly limits?: MediaLimits | undefined;
  /** Called when the process ended unexpectedly. */
  readonly onFailure?: ((operation: MediaOperation, reason: string) => void) | undefined;
  /** Program to run; this program's own process by default. */
  readonly main?: string | undefined;
  /** Additional readable folders: models. */
  readonly models?: readonly string[] | undefined;
}

/** Time limits of slow operations. */
const timeOf: { readonly [Name in MediaOperation]?: number } = { transcribe: 300_000 };

/** A file that is being worked on; disposing it removes what is left of it. */
export interface MediaWork extends AsyncDisposable {
  /** Path for the file, readable by the process. */
  readonly input: string;
  /** Rejects with a MediaError, or with the signal's reason. */
  run<Name extends MediaOperation>(
    operation: Name,
    request: MediaRequest<Name>,
    signal?: AbortSignal,
  ): Promise<MediaResult<Name>>;
  /** Copies the file as it was put there to a new file of ours. */
  takeInput(target: string, maxBytes: number): Promise<HostileCopy>;
  /** Copies what the process has written to a new file of ours. */
  takeOutput(target: string, maxBytes: number): Promise<HostileCopy>;
}

interface Asked<Name extends MediaOperation> {
  readonly operation: Name;
  readonly request: MediaRequest<Name>;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads strangers' files in a separate process: started on demand, one file at a time, ended when idle, restarted after
 * a failure. A file that crashes it fails only its own request.
 */
export class Media implements AsyncDisposable {
  readonly #options: MediaOptions;
  readonly #limits: MediaLimits;
  readonly #processes: Restarted<MediaProcess>;
  #prepared: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  constructor(options: MediaOptions) {
    this.#options = options;
    this.#limits = options.limits ?? mediaLimits;
    this.#processes = new Restarted({ start: () => this.#start(), idleMs: this.#limits.idleMs });
  }

  /** Pid of the process; undefined when none is running. */
  get pid(): number | undefined {
    return this.#processes.running?.pid;
  }

  /** Resolves when the process has ended that is there now, or at once. */
  get ended(): Promise<unknown> {
    return this.#processes.running?.exited ?? Promise.resolve();
  }

  async open(): Promise<MediaWork> {
    await (this.#prepared ??= this.#prepare());
    const id = randomUUID();
    const [input, output] = [join(this.#inFolder, id), join(this.#outFolder, id)];
    return {
      input,
      run: (operation, request, signal) => this.#run(id, { operation, request, signal }),
      takeInput: (target, maxBytes) => copyOf(this.#inFolder, id, { target, maxBytes }),
      takeOutput: (target, maxBytes) => copyOf(this.#outFolder, id, { target, maxBytes }),
      [Symbol.asyncDispose]: async () => {
        for (const path of [input, output]) await rm(path, { recursive: true, force: true });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#processes[Symbol.asyncDispose]();
    await this.#last;
  }

  get #inFolder(): string {
    return join(this.#options.folder, "in");
  }

  get #outFolder(): string {
    return join(this.#options.folder, "out");
  }

  async #prepare(): Promise<void> {
    await rm(this.#options.folder, { recursive: true, force: true });
    for (const folder of [this.#options.folder, this.#inFolder, this.#outFolder])
      await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  async #run<Name extends MediaOperation>(id: string, asked: Asked<Name>): Promise<MediaResult<Name>> {
    const { mostWaiting } = this.#limits;
    if (this.#waiting >= mostWaiting)
      throw new MediaError("failed", `${mostWaiting} other files are waiting to be read; try again later`);
    this.#waiting += 1;
    const done = this.#last.then(() => this.#ask(id, asked));
    this.#last = done.catch(() => undefined);
    try {
      return await (asked.signal ? Promise.race([done, rejectAt(asked.signal)]) : done);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #ask<Name extends MediaOperation>(id: string, asked: Asked<Name>): Promise<MediaResult<Name>> {
    const { operation, signal } = asked;
    signal?.throwIfAborted();
    if (this.#isClosed) throw new MediaError("failed", "the host is stopping");
    return this.#processes.use(async (child) => {
      const giveUp = (): void => child.kill("nobody waits for it anymore");
      signal?.addEventListener("abort", giveUp, { once: true });
      try {
        return await resultOf(child, id, { ...asked, requestMs: timeOf[operation] ?? this.#limits.requestMs });
      } catch (error) {
        signal?.throwIfAborted();
        this.#tell(operation, error);
        throw error;
      } finally {
        signal?.removeEventListener("abort", giveUp);
      }
    });
  }

  /** Reports failures of the process; a decoder's complaint about a file is none. */
  #tell(operation: MediaOperation, error: unknown): void {
    if (this.#isClosed || !(error instanceof MediaError) || error.failure !== "failed") return;
    this.#options.onFailure?.(operation, error.message);
  }

  async #start(): Promise<MediaProcess> {
    const { memoryMb, outputBytes } = this.#limits;
    const { main, models } = this.#options;
    const [inFolder, outFolder] = [this.#inFolder, this.#outFolder];
    const { startMediaProcess } = await import("./process/media-process.ts");
    return startMediaProcess({ inFolder, outFolder, memoryMb, outputBytes, main, models });
  }
}

async function copyOf(
  path: string,
  name: string,
  { target, maxBytes }: { readonly target: string; readonly maxBytes: number },
): Promise<HostileCopy> {
  await using folder = await HostileFolder.open(path);
  return await folder.copyFile(name, target, { maxBytes });
}

async function resultOf<Name extends MediaOperation>(
  child: MediaProcess,
  file: string,
  { operation, request, requestMs }: Asked<Name> & { readonly requestMs: number },
): Promise<MediaResult<Name>> {
  const deadline = setTimeout(() => child.kill(`it took longer than ${requestMs / 1000} seconds`), requestMs);
  try {
    const line = child.line as { call(name: Name, value: object): Promise<MediaResult<Name>> };
    return await line.call(operation, { file, ...request });
  } catch (error) {
    if (error instanceof MediaError) throw error;
    if (!(error instanceof InvalidAnswer)) throw new MediaError("failed", toError(error).message);
    child.kill("its answer is not valid");
    throw new MediaError("failed", (await child.exited).message);
  } finally {
    clearTimeout(deadline);
  }
}
