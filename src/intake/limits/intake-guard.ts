import { statfsSync } from "node:fs";

import type { Logger } from "pino";

import type { IntakeState } from "../../channels/channel.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, isPassing, toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { Store } from "../../stores/contract/store.ts";
import { mebibyte } from "../../lib/text/bytes.ts";

export interface IntakeGuardOptions {
  /** A folder on the disk that everything is written to. */
  readonly folder: string;
  /** With less space than this, nothing more is taken in: what is left is for the turns that run. */
  readonly reserveBytes: number;
  readonly store: Pick<Store, "probe">;
  readonly publish: Publish<"intake.stopped" | "intake.resumed">;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Trouble = Extract<IntakeState, { open: false }>;

/** The disk is looked at, and a store that failed is tried, at most so often. */
const lookEveryMs = 1_000;
/** Turns that were held up go on with as little as this. */
const leastBytes = 1024 * 1024;

const starting: Trouble = { open: false, code: "starting", reason: "the host is starting" };
const stopping: Trouble = { open: false, code: "stopping", reason: "the host is stopping" };

/**
 * Lets messages in from `open` to `close`, and stops the intake while what comes in could not be kept: the disk is
 * nearly full, or the store or the audit log failed. It looks when a message comes in; only while it is stopped a timer
 * tries whether things work again, so it opens by itself.
 */
export class IntakeGuard implements Disposable {
  readonly #options: IntakeGuardOptions;
  #trouble: Trouble | undefined;
  #since = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** Reason why intake is closed. */
  #closed: Trouble | undefined = starting;

  constructor(options: IntakeGuardOptions) {
    this.#options = options;
  }

  /** Everything that takes messages on from here is there. No effect once it was closed. */
  open(): void {
    if (this.#closed === starting) this.#closed = undefined;
  }

  /** Closes intake. */
  close(): void {
    this.#closed = stopping;
  }

  state(): IntakeState {
    if (this.#closed) return this.#closed;
    const now = this.#options.clock.monotonic();
    if (!this.#trouble && now - this.#lookedAt >= lookEveryMs) {
      this.#lookedAt = now;
      this.#stopFor(this.#diskTrouble());
    }
    return this.#trouble ?? { open: true };
  }

  /** Something could not be written. What is not the machine's trouble has no effect. */
  failed(error: unknown): void {
    if (isPassing(error)) this.#stopFor(troubleOf(error));
  }

  /** Resolves when there is room on the disk and the store can be written, or at the signal. Never rejects. */
  async untilWritable(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#freeBytes() >= leastBytes) return await this.#options.store.probe(this.#options.clock.now());
      } catch (error) {
        if (!isPassing(error)) return;
        this.failed(error);
      }
      await sleep(lookEveryMs, signal);
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #stopFor(trouble: Trouble | undefined): void {
    if (!trouble || this.#trouble || this.#isOver) return;
    const { clock, logger, publish } = this.#options;
    this.#trouble = trouble;
    this.#since = clock.monotonic();
    logger.error({ code: trouble.code }, `no messages are accepted: ${trouble.reason}`);
    this.#tryLater();
    if (trouble.code === "audit-failed") return;
    const data = { code: trouble.code, reason: trouble.reason };
    publish({ type: "intake.stopped", actor: "host", data }).catch((error: unknown) =>
      logger.warn({ err: toError(error) }, "could not record that the intake was stopped"),
    );
  }

  #tryLater(): void {
    this.#timer = setTimeout(() => void this.#tryToOpen(), lookEveryMs);
    this.#timer.unref();
  }

  async #tryToOpen(): Promise<void> {
    const trouble = this.#diskTrouble() ?? (await this.#writeTrouble());
    if (this.#isOver) return;
    this.#trouble = trouble;
    if (trouble) this.#tryLater();
    else this.#options.logger.info("messages are accepted again");
  }

  async #writeTrouble(): Promise<Trouble | undefined> {
    const { store, publish, clock } = this.#options;
    try {
      await store.probe(clock.now());
      const seconds = Math.round((clock.monotonic() - this.#since) / 1000);
      await publish({ type: "intake.resumed", actor: "host", data: { seconds } });
      return undefined;
    } catch (error) {
      return troubleOf(error);
    }
  }

  #diskTrouble(): Trouble | undefined {
    const { reserveBytes } = this.#options;
    const free = this.#freeBytes();
    if (free >= reserveBytes) return undefined;
    const [left, kept] = [free, reserveBytes].map((bytes) => Math.floor(bytes / mebibyte));
    const reason = `the disk is nearly full (${left} MB are left, ${kept} MB are kept for what is under way)`;
    return { open: false, code: "disk-full", reason };
  }

  /** A disk that cannot be asked is not judged: writing will tell. */
  #freeBytes(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#options.folder);
      return bavail * bsize;
    } catch (error) {
      this.#options.logger.warn({ err: toError(error) }, "could not read free disk space");
      return Number.POSITIVE_INFINITY;
    }
  }
}

function troubleOf(error: unknown): Trouble {
  const isAudit = error instanceof AppError && error.code === "audit_broken";
  return isAudit
    ? { open: false, code: "audit-failed", reason: "the audit log cannot be written" }
    : { open: false, code: "store-failed", reason: "the store cannot be written" };
}
