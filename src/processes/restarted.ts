import { toError } from "../lib/app-error.ts";
import { PendingWork } from "../lib/pending-work.ts";
import { backoffMs, type BackoffOptions } from "../lib/time/backoff.ts";
import type { Clock } from "../lib/time/clock.ts";
import { systemClock } from "../lib/time/clock.ts";

/** A process or a thread that is started. */
export interface Started extends AsyncDisposable {
  readonly exited: Promise<Error>;
  /** True from the moment at which `exited` is about to resolve. */
  readonly hasEnded: boolean;
}

/** Options for restarting something. */
export interface RestartOptions<Process extends Started> {
  readonly start: () => Process | Promise<Process>;
  /** Ended after this time without use; left out: it stays. */
  readonly idleMs?: number | undefined;
  /** After a failure; left out: it is started at the next use. */
  readonly backoff?: Backoff | undefined;
  /** It could not be started, or has ended without being asked to; `failures` in a row. */
  readonly onFailure?: ((reason: string, failures: number) => void) | undefined;
}

/** Time after a failure during which nothing is started. */
export interface Backoff extends BackoffOptions {
  /** One that lived for so long was well. */
  readonly wellMs: number;
  readonly clock: Clock;
  /** Returns what is told to whoever wants it before its time. */
  readonly refusal: (failures: number, waitMs: number) => Error;
}

/**
 * Started when it is first used, ended when it is idle, and started again after it has ended: later each time, where it
 * failed.
 */
export class Restarted<Process extends Started> implements AsyncDisposable {
  readonly #options: RestartOptions<Process>;
  readonly #clock: Clock;
  readonly #pending = new PendingWork(() => undefined);
  #current: Promise<Process> | undefined;
  #running: Process | undefined;
  #startedAt = 0;
  #nextAt = 0;
  #failures = 0;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: RestartOptions<Process>) {
    this.#options = options;
    this.#clock = options.backoff?.clock ?? systemClock;
  }

  /** The one that runs now, if any. */
  get running(): Process | undefined {
    return this.#running;
  }

  /** The one that runs, or a new one. Rejects where none can be started. */
  async get(): Promise<Process> {
    if (this.#isOver) throw new Error("the host is stopping");
    if (this.#running?.hasEnded === true) this.#ended(this.#running, await this.#running.exited);
    if (this.#current) return this.#current;
    const starting = this.#start();
    this.#current = starting;
    starting.catch(() => {
      if (this.#current === starting) this.#current = undefined;
    });
    return starting;
  }

  /** While it is used, it is not idle. */
  async use<Result>(work: (process: Process) => Promise<Result>): Promise<Result> {
    clearTimeout(this.#idle);
    this.#users += 1;
    try {
      return await work(await this.get());
    } finally {
      this.#users -= 1;
      this.#endWhenIdle();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#idle);
    const current = await this.#current?.catch((): undefined => undefined);
    await current?.[Symbol.asyncDispose]();
    await this.#pending.done();
  }

  async #start(): Promise<Process> {
    const { backoff, start } = this.#options;
    const waitMs = this.#nextAt - this.#clock.monotonic();
    if (backoff && waitMs > 0) throw backoff.refusal(this.#failures, waitMs);
    this.#startedAt = this.#clock.monotonic();
    const process = await start();
    this.#running = process;
    this.#pending.add(process.exited.then((reason) => this.#ended(process, reason)));
    return process;
  }

  /** Counts a failure to begin; what `start` rejects with counts only where it says so. */
  failed(thrown: unknown): void {
    if (this.#isOver) return;
    this.#failures += 1;
    const { backoff, onFailure } = this.#options;
    if (backoff) this.#nextAt = this.#clock.monotonic() + backoffMs(backoff, this.#failures);
    onFailure?.(toError(thrown).message, this.#failures);
  }

  #ended(process: Process, reason: Error): void {
    if (this.#running !== process) return;
    [this.#current, this.#running] = [undefined, undefined];
    const { backoff } = this.#options;
    if (backoff && this.#clock.monotonic() - this.#startedAt > backoff.wellMs) this.#failures = 0;
    this.failed(reason);
  }

  #endWhenIdle(): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined || this.#users > 0 || this.#isOver) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#endIdle(), idleMs).unref();
  }

  /** Its end is no failure, and whoever comes next gets another one. */
  #endIdle(): void {
    const idle = this.#running;
    [this.#current, this.#running] = [undefined, undefined];
    if (idle) this.#pending.add(Promise.resolve(idle[Symbol.asyncDispose]()));
  }
}
