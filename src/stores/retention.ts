import type { Logger } from "pino";

import type { Publish } from "../domain/events/event.ts";
import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import { type Sleep, sleep } from "../lib/time/sleep.ts";
import type { PrunedWindow } from "./contract/retention-store.ts";
import type { Store } from "./contract/store.ts";

export interface RetentionOptions {
  readonly store: {
    readonly retention: Store["retention"];
    readonly events: Pick<Store["events"], "prune">;
    readonly jobs: Pick<Store["jobs"], "prune">;
    readonly subAgents: Pick<Store["subAgents"], "prune">;
  };
  /** Maximum age of texts in days; 0: unlimited. */
  readonly days: { readonly messages: number; readonly turns: number; readonly replies: number };
  readonly eventDays: number;
  /** Removes unreferenced blobs. Returns their number. */
  readonly removeBlobs?: (signal: AbortSignal) => Promise<number>;
  /** Number of a group's newest messages to keep, as a turn may show them. */
  readonly keepNewest: number;
  readonly publish: Publish<"store.pruned">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  readonly wait?: Sleep;
}

/** Number of pruned rows by kind. */
interface Counts {
  messages: number;
  steps: number;
  work: number;
  replies: number;
  approvals?: number;
  chats: number;
  days: number;
  events?: number;
  blobs?: number;
  jobs?: number;
  subAgents?: number;
}

/** The start of a host has better things to do. */
const firstAfterMs = 5 * 60_000;
const everyMs = 6 * 3_600_000;
/**
 * Rows of one transaction. Some hold hundreds of kilobytes, and all of them together must not keep the host for long.
 */
const rowsAtOnce = 200;
/** Between two of them messages and turns have the store to themselves. */
const pauseMs = 20;
const dayMs = 24 * 3_600_000;
/** Retention of usage in days; intake counts on its day only. */
const usageDays = 400;
const intakeDays = 2;

/** Takes what is too old out of the store, every few hours, in small pieces. What fails is retried the next time. */
export class Retention implements AsyncDisposable {
  readonly #options: RetentionOptions;
  readonly #wait: Sleep;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#wait = options.wait ?? sleep;
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    await this.#wait(firstAfterMs, signal);
    while (!signal.aborted) {
      await this.#prune();
      await this.#wait(everyMs, signal);
    }
  }

  /** Never rejects. */
  async #prune(): Promise<void> {
    const { publish, logger } = this.#options;
    const counts: Counts = { messages: 0, steps: 0, work: 0, replies: 0, chats: 0, days: 0 };
    try {
      await this.#pruneAll(counts);
    } catch (error) {
      logger.warn({ err: toError(error) }, "old texts could not be removed from the store; retrying later");
    }
    if (Object.values(counts).every((count) => count === 0)) return;
    try {
      await publish({ type: "store.pruned", actor: "host", data: { ...counts } });
    } catch (error) {
      logger.error({ err: toError(error), ...counts }, "could not record that old texts were removed");
    }
  }

  async #pruneAll(counts: Counts): Promise<void> {
    const { store, days, eventDays, keepNewest, clock } = this.#options;
    const { retention } = store;
    const now = clock.now();
    const before = (age: number): number => now - age * dayMs;
    const window = (age: number, after: number) => ({ after, limit: rowsAtOnce, before: before(age) });
    if (days.messages > 0) {
      await this.#walk(counts, "messages", (after) => retention.messages(window(days.messages, after), keepNewest));
      await this.#repeat(counts, "chats", () => retention.strangers(before(days.messages), rowsAtOnce));
    }
    if (days.turns > 0) {
      await this.#walk(counts, "steps", (after) => retention.steps(window(days.turns, after)));
      await this.#walk(counts, "work", (after) => retention.work(window(days.turns, after)));
      await this.#repeat(counts, "approvals", () => retention.approvals(before(days.turns), rowsAtOnce));
      await this.#repeat(counts, "jobs", () => store.jobs.prune(before(days.turns), rowsAtOnce));
      await this.#repeat(counts, "subAgents", () => store.subAgents.prune(before(days.turns), rowsAtOnce));
    }
    if (days.replies > 0)
      await this.#walk(counts, "replies", (after) => retention.replies(window(days.replies, after)));
    if (eventDays > 0) {
      const prune = (): Promise<number> => store.events.prune(before(eventDays), rowsAtOnce);
      await this.#repeat(counts, "events", prune);
    }
    const blobs = (await this.#options.removeBlobs?.(this.#stop.signal)) ?? 0;
    if (blobs > 0) counts.blobs = blobs;
    const dayBefore = (age: number): string => utcDay(now - age * dayMs);
    const lastDays = { usage: dayBefore(usageDays), intake: dayBefore(intakeDays) };
    await this.#repeat(counts, "days", () => retention.days(lastDays, rowsAtOnce));
  }

  async #walk(counts: Counts, what: keyof Counts, prune: (after: number) => Promise<PrunedWindow>): Promise<void> {
    for (let after: number | undefined = 0; after !== undefined && !this.#stop.signal.aborted;) {
      const { pruned, next }: PrunedWindow = await prune(after);
      counts[what] = (counts[what] ?? 0) + pruned;
      after = next;
      await this.#wait(pauseMs, this.#stop.signal);
    }
  }

  async #repeat(counts: Counts, what: keyof Counts, prune: () => Promise<number>): Promise<void> {
    for (let pruned = rowsAtOnce; pruned >= rowsAtOnce && !this.#stop.signal.aborted;) {
      pruned = await prune();
      if (pruned > 0) counts[what] = (counts[what] ?? 0) + pruned;
      await this.#wait(pauseMs, this.#stop.signal);
    }
  }
}
