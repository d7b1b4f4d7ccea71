import type { Logger } from "pino";

import { type Channel, type Reconciliation, SendError } from "../channels/channel.ts";
import type { OutboxState, OutgoingMessage } from "../domain/chats/message.ts";
import type { Publish } from "../domain/events/event.ts";
import { toError } from "../lib/app-error.ts";
import { type BackoffOptions, backoffMs } from "../lib/time/backoff.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Sleep } from "../lib/time/sleep.ts";
import type { OutboxStore } from "../stores/contract/outbox-store.ts";
import { withDeadline } from "./deadline.ts";
import { expiresAt } from "./expiry.ts";
import type { QuoteOf } from "./quotes.ts";
import { ownCommand } from "../lib/process/own-command.ts";

const attemptsPerMessage = 5;
const backoff: BackoffOptions = { firstMs: 1_000, longestMs: 60_000, jitter: { least: 0.5, most: 1 } };
const answerDeadlineMs = 60_000;
/** Until the store is retried after it failed. */
const storeRetryMs = 2_000;
const errorChars = 500;
/** Longer than any message lives, and what a timer can hold. */
const longestPatienceMs = 24 * 3_600_000;

/** Outcome of an attempt. `interrupted`: the host stopped in the middle. */
export type DeliveryOutcome = "accepted" | "delivered" | "failed" | "uncertain" | "dead" | "expired" | "interrupted";

const stateAfter: Readonly<Record<DeliveryOutcome, OutboxState>> = {
  accepted: "accepted",
  delivered: "delivered",
  failed: "queued",
  uncertain: "uncertain",
  dead: "dead",
  expired: "dead",
  interrupted: "uncertain",
};

/** A channel as far as messages go out through it. */
export type OutgoingChannel = Pick<Channel, "send" | "reconcile" | "idempotent">;

export interface DeliveryOptions {
  readonly store: Pick<OutboxStore, "setState" | "get">;
  /** Finds the quote of a message; no quotes by default. */
  readonly quoteOf?: QuoteOf | undefined;
  /** True when the channel shows which agent is speaking. */
  readonly namesAgents?: ((channel: string) => boolean) | undefined;
  /** A failure to do so is logged and holds nothing up. */
  readonly publish: Publish<"delivery.accepted" | "delivery.confirmed" | "delivery.failed">;
  readonly logger: Logger;
  readonly clock: Pick<Clock, "now">;
  readonly wait: Sleep;
  /** A number in 0..1, for spreading retries. */
  readonly random: () => number;
}

/** A message on its way. */
interface Underway {
  readonly row: OutgoingMessage;
  /** Its state in the store. */
  stored: OutboxState;
  /** Attempts that count; what the store has, but for one that is being made. */
  attempts: number;
  /** Failures in a row of any kind since it was taken up, for the back-off. */
  failures: number;
  /** The platform may have it already. */
  unsure: boolean;
  /** The platform said that it arrived. */
  confirmed: boolean;
  lastError: string | undefined;
}

type Progress = "done" | "waits" | "again";

/**
 * Moves a message through `queued → sending → accepted → delivered`. A refused one returns to `queued` for the next
 * attempt and ends `dead` after the last, a final refusal or its expiry. One that the platform may have taken is
 * `uncertain`: the platform is asked, if possible; it is sent again when missing or harmless to repeat, and otherwise
 * left to the operator.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #channelOf: (name: string) => OutgoingChannel | undefined;
  readonly #stop: AbortSignal;
  readonly #underway = new Map<number, Underway>();
  /** Uncertain messages that the operator was told about in this life of the host. */
  readonly #told = new Set<number>();

  /** `channelOf`: the channel of this name, while messages can be sent through it. */
  constructor(options: DeliveryOptions, channelOf: (name: string) => OutgoingChannel | undefined, stop: AbortSignal) {
    this.#options = options;
    this.#channelOf = channelOf;
    this.#stop = stop;
  }

  /** True when the row is done with, false when it has to wait for its channel or the next start. Never rejects. */
  async deliver(row: OutgoingMessage): Promise<boolean> {
    // An attempt that the host did not survive is not the message's fault.
    const attempts = row.state === "sending" ? Math.max(0, row.attempts - 1) : row.attempts;
    const unsure = row.state === "sending" || row.state === "uncertain";
    const { state: stored, error: lastError } = row;
    const message: Underway = { row, stored, attempts, failures: 0, unsure, confirmed: false, lastError };
    this.#underway.set(row.seq, message);
    try {
      for (;;) {
        const progress = await this.#advance(message);
        if (progress !== "again") return progress === "done";
      }
    } finally {
      this.#underway.delete(row.seq);
    }
  }

  /** The platform says that a message arrived. */
  async confirm(channel: string, seq: number): Promise<void> {
    const message = this.#underway.get(seq);
    if (message?.row.channel === channel) {
      message.confirmed = true;
      return;
    }
    const row = await this.#options.store.get(seq);
    if (row?.channel !== channel || (row.state !== "accepted" && row.state !== "uncertain")) return;
    await this.#options.store.setState(seq, "delivered", row.attempts);
    await this.#report(row, row.attempts, "delivered", undefined);
  }

  async #advance(message: Underway): Promise<Progress> {
    if (message.confirmed) return this.#conclude(message, "delivered");
    if (!message.unsure && this.#options.clock.now() >= expiresAt(message.row)) return this.#expire(message);
    const channel = this.#channelOf(message.row.channel);
    if (!channel || this.#stop.aborted) return "waits";
    if (message.unsure) return this.#resolve(message, channel);
    if (message.attempts >= attemptsPerMessage) return this.#conclude(message, "dead");
    return this.#attempt(message, channel);
  }

  async #expire(message: Underway): Promise<Progress> {
    message.lastError = "expired";
    return this.#conclude(message, "expired");
  }

  /** Finds out what to do with a message that may have been sent. */
  async #resolve(message: Underway, channel: OutgoingChannel): Promise<Progress> {
    const found = await this.#find(message, channel);
    if (found === undefined) return this.#pause(message, 0);
    if (found === "accepted") return this.#conclude(message, "accepted");
    if (found === "unknown" && !channel.idempotent) return this.#leaveUncertain(message);
    message.unsure = false;
    return "again";
  }

  /** Undefined when the question itself failed and is worth asking again. */
  async #find({ row, failures }: Underway, channel: OutgoingChannel): Promise<Reconciliation | undefined> {
    if (!channel.reconcile) return "unknown";
    const ask = async (signal: AbortSignal): Promise<Reconciliation> =>
      (await channel.reconcile?.(this.#withName(row), signal)) ?? "unknown";
    try {
      return await withDeadline(this.#stop, answerDeadlineMs, ask);
    } catch (error) {
      this.#options.logger.warn({ err: toError(error), ...about(row) }, "a channel could not look for a message");
      return failures + 1 < attemptsPerMessage ? undefined : "unknown";
    }
  }

  async #leaveUncertain(message: Underway): Promise<Progress> {
    const { row } = message;
    if (message.stored !== "uncertain") {
      message.lastError ??= "the host ended while it was being sent";
      await this.#conclude(message, "uncertain");
    }
    if (!this.#told.has(row.seq)) {
      this.#told.add(row.seq);
      const fix = `check the chat; if the message is missing, run \`${ownCommand(`outbox retry ${row.seq}`)}\``;
      this.#options.logger.error(
        { ...about(row), reason: message.lastError, fix },
        "could not tell whether a message arrived; not sending it again",
      );
    }
    return "done";
  }

  async #attempt(message: Underway, channel: OutgoingChannel): Promise<Progress> {
    const { row } = message;
    // Where sending twice does no harm, nobody has to know later that it may have been sent.
    if (!channel.idempotent && !(await this.#announce(message))) return "waits";
    const failure = await this.#send(row, channel);
    message.lastError = failure?.message.slice(0, errorChars);
    const outcome = this.#judge(failure, message);
    const patience = patienceOf(failure);
    // A host that stops, and a platform that asks for patience, say nothing about the message.
    if (outcome !== "interrupted" && patience === undefined) message.attempts += 1;
    message.unsure = stateAfter[outcome] === "uncertain";
    const progress = await this.#conclude(message, this.#isLast(outcome, message) ? "dead" : outcome, failure);
    if (progress === "done") return progress;
    const hopeless = message.unsure && !channel.idempotent && !channel.reconcile;
    return hopeless ? "again" : this.#pause(message, patience ?? 0);
  }

  /** Stores that it is being sent. False when the host stopped meanwhile: then it is not. */
  async #announce(message: Underway): Promise<boolean> {
    await this.#store(message, "sending", message.attempts + 1);
    if (this.#stop.aborted) await this.#store(message, "queued", message.attempts);
    return !this.#stop.aborted;
  }

  #isLast(outcome: DeliveryOutcome, { attempts }: Underway): boolean {
    return outcome === "failed" && attempts >= attemptsPerMessage;
  }

  async #send(row: OutgoingMessage, channel: OutgoingChannel): Promise<Error | undefined> {
    try {
      const message = this.#withName(await this.#withQuote(row));
      await withDeadline(this.#stop, answerDeadlineMs, (signal) => channel.send(message, signal));
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  #withName(row: OutgoingMessage): OutgoingMessage {
    const { agent, text, reaction, channel } = row;
    if (agent === undefined || reaction !== undefined || this.#options.namesAgents?.(channel) === true) return row;
    return { ...row, text: text === "" ? agent : `${agent}: ${text}` };
  }

  /** A quote is a help for the eye: without one the message goes out all the same. */
  async #withQuote(row: OutgoingMessage): Promise<OutgoingMessage> {
    try {
      const quote = await this.#options.quoteOf?.(row);
      return quote ? { ...row, quote } : row;
    } catch (error) {
      this.#options.logger.warn({ err: toError(error), ...about(row) }, "could not look up what a message answers");
      return row;
    }
  }

  #judge(failure: Error | undefined, { confirmed }: Underway): DeliveryOutcome {
    if (confirmed) return "delivered";
    if (!failure) return "accepted";
    if (failure instanceof SendError) {
      if (failure.ambiguous) return this.#stop.aborted ? "interrupted" : "uncertain";
      return failure.permanent ? "dead" : "failed";
    }
    return this.#stop.aborted ? "interrupted" : "failed";
  }

  async #pause(message: Underway, atLeastMs: number): Promise<Progress> {
    message.failures += 1;
    const delayMs = backoffMs(backoff, message.failures, this.#options.random());
    await this.#options.wait(Math.max(Math.min(atLeastMs, longestPatienceMs), delayMs), this.#stop);
    return "again";
  }

  /** Stores and reports an outcome; `again` when another attempt follows. */
  async #conclude(message: Underway, outcome: DeliveryOutcome, failure?: Error): Promise<Progress> {
    const { row, attempts, lastError } = message;
    const good = outcome === "accepted" || outcome === "delivered";
    const error = good ? undefined : lastError;
    await this.#store(message, stateAfter[outcome], attempts, error);
    const level = outcome === "dead" || outcome === "expired" ? "error" : "warn";
    if (!good)
      this.#options.logger[level]({ err: failure, ...about(row), attempts, outcome }, "a message was not delivered");
    await this.#report(row, attempts, outcome, error);
    return good || outcome === "dead" || outcome === "expired" ? "done" : "again";
  }

  async #report(
    row: OutgoingMessage,
    attempt: number,
    outcome: DeliveryOutcome,
    error: string | undefined,
  ): Promise<void> {
    const { seq, group, channel, chat, kind, turn } = row;
    const sinceMs = this.#options.clock.now() - row.createdAt;
    const data = { seq, channel, chat, kind, attempt, outcome, ...(error !== undefined && { error }), sinceMs };
    try {
      await this.#options.publish({ type: eventOf(outcome), group, turn, actor: "host", data });
    } catch (failure) {
      this.#options.logger.error({ err: toError(failure), seq }, "a delivery could not be recorded");
    }
  }

  /** Retries until the store takes it, so that a sent message is not forgotten while the host lives. */
  async #store(message: Underway, state: OutboxState, attempts: number, error?: string): Promise<void> {
    const { seq } = message.row;
    for (;;) {
      try {
        await this.#options.store.setState(seq, state, attempts, error);
        message.stored = state;
        return;
      } catch (failure) {
        const facts = { err: toError(failure), seq, state };
        this.#options.logger.error(facts, "the state of a message cannot be stored");
        if (this.#stop.aborted) return;
        await this.#options.wait(storeRetryMs, this.#stop);
      }
    }
  }
}

function eventOf(outcome: DeliveryOutcome): "delivery.accepted" | "delivery.confirmed" | "delivery.failed" {
  if (outcome === "accepted") return "delivery.accepted";
  return outcome === "delivered" ? "delivery.confirmed" : "delivery.failed";
}

function patienceOf(failure: Error | undefined): number | undefined {
  return failure instanceof SendError ? failure.retryAfterMs : undefined;
}

function about({ seq, group, channel }: OutgoingMessage): Record<string, string | number> {
  return { seq, group, channel };
}
