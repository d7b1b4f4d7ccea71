import { setTimeout as delay } from "node:timers/promises";

import type { Place } from "../domain/place.ts";
import { Places } from "./places.ts";

/**
 * States of a group: absent (nothing to do) → `waiting` (has a place in the line) → `running` → absent, or
 * `again` (woken while running) → back to the end of the line, so that a busy group cannot starve the others.
 */
type GroupState = "waiting" | "running" | "again";

/**
 * A group that was woken so often within one run is flooding: it rests before its next one. The next message of a quick
 * conversation and the run's own word that more is due are fewer.
 */
const floodingWakes = 3;
/** What comes meanwhile is answered together; the other groups have the host's one thread to themselves. */
const restMs = 50;

export interface GroupQueueParts {
  /** How many groups may be at work at once. */
  readonly concurrency: number;
  /**
   * Does what is due for the group: at most one turn. It may leave its place for a while. Should not reject; a rejection is
   * reported and the queue goes on.
   */
  readonly run: (group: string, signal: AbortSignal, place: Place) => Promise<void>;
  readonly onError: (group: string, error: unknown) => void;
  /** The group waits for its place, runs, or (undefined) has nothing to do. Must not throw. */
  readonly onChange?: ((group: string, activity: "waiting" | "running" | undefined) => void) | undefined;
}

/**
 * Runs one thing at a time per group, several groups at once, groups in the order in which they asked. It holds names of
 * groups only, never messages: what is due is in the store, so a wake-up that is lost with the process loses nothing.
 */
export class GroupQueue {
  readonly #states = new Map<string, GroupState>();
  /** How often a group was woken since its run began. */
  readonly #wakes = new Map<string, number>();
  readonly #rests = new Set<Promise<void>>();
  readonly #runs = new Set<Promise<void>>();
  readonly #places: Places;
  readonly #parts: GroupQueueParts;
  readonly #abort = new AbortController();
  #stopped = false;

  constructor(parts: GroupQueueParts) {
    this.#parts = parts;
    this.#places = new Places({ count: parts.concurrency, now: () => performance.now() });
  }

  /** Something is due for the group. Cheap and idempotent; ignored once the queue is stopped. */
  wake(group: string): void {
    if (this.#stopped) return;
    const state = this.#states.get(group);
    if (state === undefined) return this.#enqueue(group);
    if (state === "waiting") return;
    this.#states.set(group, "again");
    this.#wakes.set(group, (this.#wakes.get(group) ?? 0) + 1);
  }

  /** Groups that wait for a place, and groups that run, in order. */
  snapshot(): { readonly waiting: string[]; readonly running: string[] } {
    const waiting: string[] = [];
    const running: string[] = [];
    for (const [group, state] of this.#states) (state === "waiting" ? waiting : running).push(group);
    return { waiting, running };
  }

  /** Resolves when nothing runs or waits. */
  async idle(): Promise<void> {
    while (this.#runs.size + this.#rests.size > 0) await Promise.all([...this.#runs, ...this.#rests]);
  }

  /** Starts nothing more, waits for what runs, and after the deadline aborts it. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true;
    for (const [group, state] of this.#states) if (state === "waiting") this.#forget(group);
    const timer = setTimeout(() => this.#abort.abort(new Error("the host is shutting down")), deadlineMs);
    await Promise.all(this.#runs);
    clearTimeout(timer);
  }

  #enqueue(group: string): void {
    this.#states.set(group, "waiting");
    this.#parts.onChange?.(group, "waiting");
    const isFlooding = (this.#wakes.get(group) ?? 0) >= floodingWakes;
    this.#wakes.delete(group);
    if (!isFlooding) return this.#join(group);
    const resting = this.#joinRested(group);
    this.#rests.add(resting);
    void resting.then(() => this.#rests.delete(resting));
  }

  async #joinRested(group: string): Promise<void> {
    await delay(restMs);
    if (!this.#stopped) this.#join(group);
  }

  #join(group: string): void {
    const run = this.#runInPlace(group);
    this.#runs.add(run);
    void run.then(() => this.#runs.delete(run));
  }

  /** What stands in line when the queue is stopped is kept in the store. */
  async #runInPlace(group: string): Promise<void> {
    using place = await this.#places.enter();
    if (!this.#stopped) await this.#run(group, place);
  }

  async #run(group: string, place: Place): Promise<void> {
    this.#states.set(group, "running");
    this.#parts.onChange?.(group, "running");
    try {
      await this.#parts.run(group, this.#abort.signal, place);
    } catch (error) {
      this.#parts.onError(group, error);
    } finally {
      const again = this.#states.get(group) === "again" && !this.#stopped;
      if (again) this.#enqueue(group);
      else this.#forget(group);
    }
  }

  #forget(group: string): void {
    this.#states.delete(group);
    this.#wakes.delete(group);
    this.#parts.onChange?.(group, undefined);
  }
}
