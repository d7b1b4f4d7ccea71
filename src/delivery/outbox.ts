import type { Logger } from "pino";

import type { Channel } from "../channels/channel.ts";
import type { OutgoingMessage } from "../domain/chats/message.ts";
import { AppError, toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { type Sleep, sleep } from "../lib/time/sleep.ts";
import type { OutboxStore } from "../stores/contract/outbox-store.ts";
import { Delivery, type DeliveryOptions, type OutgoingChannel } from "./delivery.ts";
import { expiresAt } from "./expiry.ts";

const pageRows = 100;
/** Rows that are kept in memory at most; the rest stays in the store until there is room. */
const heldRows = 400;
/** Until the store is retried after it failed. */
const storeRetryMs = 2_000;
/** Time for the last replies when the host stops. */
const drainMs = 5_000;
/** Longest time until what waits for its channel is looked through for what has expired: clocks can be set. */
const longestSweepMs = 3_600_000;

export interface OutboxOptions {
  readonly store: Pick<OutboxStore, "unsent" | "setState" | "get" | "requeue">;
  /** The channel of this name, if it runs in this host. */
  readonly channelOf: (name: string) => (OutgoingChannel & Pick<Channel, "state">) | undefined;
  readonly publish: DeliveryOptions["publish"];
  readonly quoteOf?: DeliveryOptions["quoteOf"];
  readonly namesAgents?: DeliveryOptions["namesAgents"];
  readonly logger: Logger;
  readonly clock: Pick<Clock, "now">;
  readonly wait?: Sleep;
  /** Random number in 0..1, to spread retries. */
  readonly random?: () => number;
}

/** Rows of one chat that are on their way, in order; the first one is in flight. */
interface ChatLine {
  readonly rows: OutgoingMessage[];
  running: Promise<void>;
}

/**
 * Sends the rows of the outbox: in order within a chat, chats in parallel; see `Delivery`. Rows of an unavailable
 * channel wait until `wake` is called for it, or until they expire.
 */
export class Outbox implements AsyncDisposable {
  readonly #options: OutboxOptions;
  readonly #wait: Sleep;
  readonly #delivery: Delivery;
  readonly #lines = new Map<string, ChatLine>();
  /** Rows that are in a line. */
  readonly #held = new Set<number>();
  /** Rows that left their line since the last look into the store began: that look may still show them as unsent. */
  readonly #left = new Set<number>();
  /** Channels of which rows were passed over. */
  readonly #passedOver = new Set<string>();
  readonly #confirming = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** All unsent rows up to this one are in a line or passed over. */
  #cursor = 0;
  #fromStart = false;
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #moreInStore = false;
  /** When the first of the rows that were passed over expires. */
  #expiry = Infinity;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: OutboxOptions) {
    const { wait = sleep, random = Math.random } = options;
    this.#options = options;
    this.#wait = wait;
    this.#delivery = new Delivery({ ...options, wait, random }, (name) => this.#openChannel(name), this.#stop.signal);
  }

  /** There may be something to send. Cheap; may be called at any time. */
  wake(): void {
    if (this.#stop.signal.aborted) return;
    this.#scanAgain = true;
    this.#scanning ??= this.#scan();
  }

  /** Resolves when nothing is left that can be sent now; rows that wait for their next attempt are waited for. */
  async idle(): Promise<void> {
    this.wake();
    while (this.#scanning !== undefined || this.#lines.size > 0) {
      await Promise.all([this.#scanning, ...[...this.#lines.values()].map((line) => line.running)]);
    }
  }

  /** Resolves as `idle` does, or when the time for the last replies is over. */
  async drain(): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, drainMs).unref();
    await Promise.race([this.idle(), limit.promise]);
    clearTimeout(timer);
  }

  /** The platform confirms that a message which it had accepted arrived. */
  confirm(channel: string, seq: number): void {
    const confirming = this.#delivery.confirm(channel, seq).catch((error: unknown) => {
      this.#options.logger.error({ err: toError(error), channel, seq }, "could not store that a message arrived");
    });
    this.#confirming.add(confirming);
    void confirming.then(() => this.#confirming.delete(confirming));
  }

  /**
   * Puts given up and uncertain messages back in line, as new. Returns those that were. Throws `conflict` for one that
   * is on its way.
   */
  async retry(seqs: readonly number[]): Promise<number[]> {
    const busy = seqs.find((seq) => this.#held.has(seq));
    if (busy !== undefined) throw new AppError("conflict", `Message ${busy} is on its way; it needs no retry.`);
    const retried = await this.#options.store.requeue(seqs, this.#options.clock.now());
    this.#fromStart = true;
    this.wake();
    return retried;
  }

  /** Gives up what is in flight and starts nothing more. To send everything first, await `idle`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#sweep);
    await Promise.all([this.#scanning, ...this.#confirming, ...[...this.#lines.values()].map((line) => line.running)]);
  }

  async #scan(): Promise<void> {
    while (this.#scanAgain && !this.#stop.signal.aborted) {
      this.#scanAgain = false;
      try {
        await this.#lineUp();
      } catch (error) {
        this.#options.logger.error({ err: toError(error) }, "the outbox cannot be read; retrying");
        await this.#wait(storeRetryMs, this.#stop.signal);
        this.#scanAgain = true;
      }
    }
    this.#scanning = undefined;
  }

  /** Reads what is new in the store and puts it into the lines of its chats. */
  async #lineUp(): Promise<void> {
    if (this.#fromStart || [...this.#passedOver].some((channel) => this.#openChannel(channel))) {
      this.#fromStart = false;
      this.#passedOver.clear();
      this.#cursor = 0;
      this.#expiry = Infinity;
    }
    this.#moreInStore = true;
    while (this.#moreInStore && this.#held.size < heldRows && !this.#stop.signal.aborted) {
      this.#left.clear();
      const rows = await this.#options.store.unsent(pageRows, this.#cursor);
      for (const row of rows) this.#place(row);
      this.#cursor = rows.at(-1)?.seq ?? this.#cursor;
      this.#moreInStore = rows.length === pageRows;
    }
    this.#planSweep();
  }

  /** Rows that wait for their channel expire without anybody waking the outbox. */
  #planSweep(): void {
    clearTimeout(this.#sweep);
    if (this.#expiry === Infinity || this.#stop.signal.aborted) return;
    const delayMs = Math.max(0, Math.min(this.#expiry - this.#options.clock.now(), longestSweepMs));
    this.#sweep = setTimeout(() => {
      this.#fromStart = true;
      this.wake();
    }, delayMs).unref();
  }

  #place(row: OutgoingMessage): void {
    if (this.#held.has(row.seq) || this.#left.has(row.seq)) return;
    // A channel that is back stays passed over until the next look, or this row would overtake those before it.
    if ((this.#passedOver.has(row.channel) || !this.#openChannel(row.channel)) && !this.#hasExpired(row)) {
      this.#passOver(row);
      return;
    }
    this.#held.add(row.seq);
    const chat = JSON.stringify([row.channel, row.chat]);
    const line = this.#lines.get(chat);
    if (line) {
      line.rows.push(row);
      return;
    }
    const started: ChatLine = { rows: [row], running: Promise.resolve() };
    this.#lines.set(chat, started);
    started.running = this.#drain(chat, started.rows);
  }

  #passOver(row: OutgoingMessage): void {
    this.#passedOver.add(row.channel);
    if (row.state === "queued") this.#expiry = Math.min(this.#expiry, expiresAt(row));
  }

  /** One that may have been sent needs its channel even then. */
  #hasExpired(row: OutgoingMessage): boolean {
    return row.state === "queued" && this.#options.clock.now() >= expiresAt(row);
  }

  #openChannel(name: string): OutgoingChannel | undefined {
    const channel = this.#options.channelOf(name);
    const state = channel?.state().state;
    return state === "open" || state === "degraded" ? channel : undefined;
  }

  async #drain(chat: string, rows: OutgoingMessage[]): Promise<void> {
    let row = rows[0];
    while (row && (await this.#delivery.deliver(row))) {
      this.#release(row);
      rows.shift();
      row = rows[0];
    }
    for (const left of rows) {
      this.#passOver(left);
      this.#release(left);
    }
    this.#lines.delete(chat);
    if (rows.length > 0) this.#planSweep();
    // The channel may have come back before these rows counted as passed over.
    if (this.#moreInStore || rows.some(({ channel }) => this.#openChannel(channel))) this.wake();
  }

  #release(row: OutgoingMessage): void {
    this.#held.delete(row.seq);
    this.#left.add(row.seq);
  }
}
