import type { Logger } from "pino";

import type { Channel } from "../channels/channel.ts";
import type { OutboxState, OutgoingMessage } from "../domain/message.ts";
import { toError } from "../lib/app-error.ts";
import type { OutboxStore } from "../stores/store.ts";
import { deliveryRetry, retryDelayMs } from "./backoff.ts";
import { type Wait, waitOnTimer, withDeadline } from "./deadline.ts";

const pageRows = 100;
/** Rows that are kept in memory at most; the rest stays in the store until there is room. */
const heldRows = 400;
const sendDeadlineMs = 60_000;
/** Until the store is tried again after it failed. */
const storeRetryMs = 2_000;

export type DeliveryOutcome = "accepted" | "failed" | "dead" | "interrupted";

export interface OutboxParts {
  readonly store: Pick<OutboxStore, "unsent" | "setState">;
  /** The channel of this name, if it runs in this host. */
  readonly channelOf: (name: string) => Pick<Channel, "send" | "state"> | undefined;
  /** Puts an attempt on record. A failure to do so is logged and holds nothing up. */
  readonly audit: (record: {
    readonly type: "delivery";
    readonly group: string;
    readonly turn: string | undefined;
    readonly actor: "host";
    readonly data: Readonly<Record<string, string | number>>;
  }) => Promise<void>;
  readonly logger: Logger;
  readonly wait?: Wait;
  /** A number in 0..1, for spreading retries. */
  readonly random?: () => number;
}

/** Rows of one chat that are on their way, in order; the first one is in flight. */
interface ChatLine {
  readonly rows: OutgoingMessage[];
  running: Promise<void>;
}

/**
 * Sends the rows of the outbox: those of a chat in order and one at a time, chats side by side. A row is
 * `queued → sending → accepted`; a failed one goes back to `queued` for the next attempt and ends `dead` after the last.
 * What was `sending` when the host died, or `uncertain` when it stopped, is sent again: channels know a `seq` they have seen.
 * Rows of a channel that is not there or not connected stay as they are until `wake` is called when it is.
 */
export class Outbox implements AsyncDisposable {
  readonly #parts: OutboxParts;
  readonly #wait: Wait;
  readonly #random: () => number;
  readonly #lines = new Map<string, ChatLine>();
  /** Rows that are in a line. */
  readonly #held = new Set<number>();
  /** Rows that left their line since the last look into the store began: that look may still show them as unsent. */
  readonly #left = new Set<number>();
  /** Channels of which rows were passed over. */
  readonly #passedOver = new Set<string>();
  readonly #stop = new AbortController();
  /** All unsent rows up to this one are in a line or passed over. */
  #cursor = 0;
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #moreInStore = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#wait = parts.wait ?? waitOnTimer;
    this.#random = parts.random ?? Math.random;
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

  /** Gives up what is in flight and starts nothing more. To send everything first, await `idle`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#scanning, ...[...this.#lines.values()].map((line) => line.running)]);
  }

  async #scan(): Promise<void> {
    while (this.#scanAgain && !this.#stop.signal.aborted) {
      this.#scanAgain = false;
      try {
        await this.#lineUp();
      } catch (error) {
        this.#parts.logger.error({ err: toError(error) }, "the outbox cannot be read; it is tried again");
        await this.#wait(storeRetryMs, this.#stop.signal);
        this.#scanAgain = true;
      }
    }
    this.#scanning = undefined;
  }

  /** Reads what is new in the store and puts it into the lines of its chats. */
  async #lineUp(): Promise<void> {
    if ([...this.#passedOver].some((channel) => this.#openChannel(channel))) {
      this.#passedOver.clear();
      this.#cursor = 0;
    }
    this.#moreInStore = true;
    while (this.#moreInStore && this.#held.size < heldRows && !this.#stop.signal.aborted) {
      this.#left.clear();
      const rows = await this.#parts.store.unsent(pageRows, this.#cursor);
      for (const row of rows) this.#place(row);
      this.#cursor = rows.at(-1)?.seq ?? this.#cursor;
      this.#moreInStore = rows.length === pageRows;
    }
  }

  #place(row: OutgoingMessage): void {
    if (this.#held.has(row.seq) || this.#left.has(row.seq)) return;
    // A channel that is back stays passed over until the next look, or this row would overtake those before it.
    if (this.#passedOver.has(row.channel) || !this.#openChannel(row.channel)) {
      this.#passedOver.add(row.channel);
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

  #openChannel(name: string): Pick<Channel, "send"> | undefined {
    const channel = this.#parts.channelOf(name);
    const state = channel?.state().state;
    return state === "open" || state === "degraded" ? channel : undefined;
  }

  async #drain(chat: string, rows: OutgoingMessage[]): Promise<void> {
    let row = rows[0];
    while (row && (await this.#deliver(row))) {
      this.#release(row);
      rows.shift();
      row = rows[0];
    }
    for (const left of rows) {
      this.#passedOver.add(left.channel);
      this.#release(left);
    }
    this.#lines.delete(chat);
    if (this.#moreInStore) this.wake();
  }

  #release(row: OutgoingMessage): void {
    this.#held.delete(row.seq);
    this.#left.add(row.seq);
  }

  /** True when the row is done with, false when it has to wait for its channel or the next start. */
  async #deliver(row: OutgoingMessage): Promise<boolean> {
    for (let attempt = row.attempts + 1; ; attempt += 1) {
      const channel = this.#openChannel(row.channel);
      if (!channel || this.#stop.signal.aborted) return false;
      await this.#record(row, "sending", attempt);
      const failure = await this.#send(row, channel);
      const outcome = this.#outcome(failure, attempt);
      await this.#conclude(row, attempt, outcome, failure);
      if (outcome === "accepted" || outcome === "dead") return true;
      await this.#wait(retryDelayMs(deliveryRetry, attempt, this.#random()), this.#stop.signal);
    }
  }

  async #send(row: OutgoingMessage, channel: Pick<Channel, "send">): Promise<Error | undefined> {
    try {
      await withDeadline(this.#stop.signal, sendDeadlineMs, (signal) => channel.send(row, signal));
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  #outcome(failure: Error | undefined, attempt: number): DeliveryOutcome {
    if (!failure) return "accepted";
    if (this.#stop.signal.aborted) return "interrupted";
    return attempt < deliveryRetry.attempts ? "failed" : "dead";
  }

  async #conclude(
    row: OutgoingMessage,
    attempt: number,
    outcome: DeliveryOutcome,
    failure: Error | undefined,
  ): Promise<void> {
    const { seq, group, channel, chat, kind, turn } = row;
    const states = { accepted: "accepted", failed: "queued", dead: "dead", interrupted: "uncertain" } as const;
    await this.#record(row, states[outcome], attempt, failure?.message.slice(0, 500));
    if (outcome === "failed")
      this.#parts.logger.warn({ err: failure, seq, group, channel, attempt }, "a message was not accepted");
    if (outcome === "dead")
      this.#parts.logger.error({ err: failure, seq, group, channel, attempt }, "a message is given up");
    const data = {
      seq,
      channel,
      chat,
      kind,
      attempt,
      outcome,
      ...(failure && { error: failure.message.slice(0, 500) }),
    };
    try {
      await this.#parts.audit({ type: "delivery", group, turn, actor: "host", data });
    } catch (error) {
      this.#parts.logger.error({ err: toError(error), seq }, "a delivery could not be put on record");
    }
  }

  /** Tries until the store takes it, so that what was sent is not forgotten while the host lives. */
  async #record(row: OutgoingMessage, state: OutboxState, attempt: number, error?: string): Promise<void> {
    for (;;) {
      try {
        await this.#parts.store.setState(row.seq, state, attempt, error);
        return;
      } catch (failure) {
        this.#parts.logger.error(
          { err: toError(failure), seq: row.seq, state },
          "the state of a message cannot be stored",
        );
        if (this.#stop.signal.aborted) return;
        await this.#wait(storeRetryMs, this.#stop.signal);
      }
    }
  }
}
