import { setTimeout as delay } from "node:timers/promises";

import type { Group, GroupChat } from "../../domain/chats/group.ts";
import { mainSessionKeys } from "../../domain/turns/session.ts";
import type { WorkSlot } from "../../domain/work/work-slot.ts";
import { WorkSlots } from "./work-slots.ts";

/** A session by its key, and the group whose it is. */
export interface QueuedSession {
  readonly session: string;
  readonly group: string;
  /** True when people wait for its answer: it comes first. */
  readonly awaited?: boolean | undefined;
}

/**
 * States of a session: absent (nothing to do) → `waiting` (has a place in the line) → `running` → absent, or
 * `again` (woken while running) → back to the end of the line, so that a busy session cannot starve the others.
 */
type SessionState = "waiting" | "running" | "again";

interface Known extends QueuedSession {
  state: SessionState;
  awaited: boolean;
  /** The same of its next run, while it runs. */
  awaitedAgain: boolean;
  /** Number of wake-ups since its run began. */
  wakes: number;
}

/**
 * A session that was woken so often within one run is flooded: it rests before its next one. The next message of a
 * quick conversation and the run's own word that more is due are fewer.
 */
const floodingWakes = 3;
/** Pause in which further messages are collected; other sessions get the thread meanwhile. */
const restMs = 50;
/** Interval of checks for the end of held groups, which is rarely needed. */
const holdCheckMs = 50;

export interface SessionQueueOptions {
  /** Maximum sessions at work. */
  readonly concurrency: number;
  /**
   * Does what is due for the session: at most one turn. It may leave its place for a while. Should not reject; a
   * rejection is reported and the queue goes on.
   */
  readonly run: (queued: QueuedSession, signal: AbortSignal, place: WorkSlot) => Promise<void>;
  readonly onError: (queued: QueuedSession, error: unknown) => void;
  /** Reports that the session waits for a slot, runs, or (undefined) has nothing to do. Must not throw. */
  readonly onChange?: ((queued: QueuedSession, activity: "waiting" | "running" | undefined) => void) | undefined;
}

/**
 * Runs one thing at a time per session, several sessions at once. WorkSlots go to those that people wait for, of which
 * some are kept for them, then to the group that has the fewest: so a group with many sessions gets no more than one
 * with a single one while others wait. It holds names only, never work: what is due is in the store, so a wake-up that
 * is lost with the process loses nothing.
 */
export class SessionQueue implements AsyncDisposable {
  readonly #sessions = new Map<string, Known>();
  readonly #rests = new Set<Promise<void>>();
  readonly #runs = new Set<Promise<void>>();
  readonly #places: WorkSlots;
  readonly #options: SessionQueueOptions;
  readonly #abort = new AbortController();
  /** By group: how often nothing of it may begin. */
  readonly #held = new Map<string, number>();
  /** Sessions that would have started meanwhile. */
  readonly #heldBack = new Set<Known>();
  #stopped = false;

  constructor(options: SessionQueueOptions) {
    this.#options = options;
    this.#places = new WorkSlots({ count: options.concurrency, now: () => performance.now() });
  }

  /** Something is due for the session. Cheap and idempotent; ignored once the queue is stopped. */
  wake({ session, group, awaited = false }: QueuedSession): void {
    if (this.#stopped) return;
    const known = this.#sessions.get(session);
    if (!known) return this.#enqueue({ session, group, state: "waiting", wakes: 0, awaited, awaitedAgain: false });
    if (known.state === "waiting") {
      known.awaited ||= awaited;
      return;
    }
    known.state = "again";
    known.awaitedAgain ||= awaited;
    known.wakes += 1;
  }

  /** Wakes the sessions that answer a group's chat, one for each agent. */
  wakeGroup(group: GroupChat & Pick<Group, "agent" | "agents">): void {
    for (const session of mainSessionKeys(group)) this.wake({ session, group: group.name, awaited: true });
  }

  /** Sessions that wait for a place, and sessions that run, in order. */
  snapshot(): { readonly waiting: QueuedSession[]; readonly running: QueuedSession[] } {
    const waiting: QueuedSession[] = [];
    const running: QueuedSession[] = [];
    for (const { session, group, state } of this.#sessions.values()) {
      (state === "waiting" ? waiting : running).push({ session, group });
    }
    return { waiting, running };
  }

  /** Number of groups with sessions waiting for a slot. */
  waitingGroups(): number {
    return new Set(this.snapshot().waiting.map(({ group }) => group)).size;
  }

  /**
   * Nothing of these groups begins until the result is disposed, and nothing of them runs when this resolves. Rejects
   * with the signal's reason when that takes too long.
   */
  async hold(groups: readonly string[], signal: AbortSignal): Promise<Disposable> {
    for (const group of groups) this.#held.set(group, (this.#held.get(group) ?? 0) + 1);
    const release = (): void => this.#release(groups);
    try {
      const isRunning = (known: Known): boolean => known.state !== "waiting" && groups.includes(known.group);
      while ([...this.#sessions.values()].some(isRunning)) {
        signal.throwIfAborted();
        await delay(holdCheckMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
      return { [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Resolves when nothing runs or waits. */
  async idle(): Promise<void> {
    while (this.#runs.size + this.#rests.size > 0) await Promise.all([...this.#runs, ...this.#rests]);
  }

  /** Starts nothing more and waits for what runs, which is aborted when the signal is. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopped = true;
    for (const known of this.#sessions.values()) if (known.state === "waiting") this.#forget(known);
    const abort = (): void => this.#abort.abort(new Error("the host is shutting down"));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    await Promise.all(this.#runs);
    signal.removeEventListener("abort", abort);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop(AbortSignal.abort());
  }

  #enqueue(known: Known): void {
    known.state = "waiting";
    // Last in the order of the map.
    this.#sessions.delete(known.session);
    this.#sessions.set(known.session, known);
    this.#options.onChange?.(known, "waiting");
    const isFlooded = known.wakes >= floodingWakes;
    known.wakes = 0;
    if (!isFlooded) return this.#join(known);
    const resting = this.#joinRested(known);
    this.#rests.add(resting);
    void resting.then(() => this.#rests.delete(resting));
  }

  async #joinRested(known: Known): Promise<void> {
    await delay(restMs);
    if (!this.#stopped) this.#join(known);
  }

  #release(groups: readonly string[]): void {
    for (const group of groups) {
      const count = (this.#held.get(group) ?? 1) - 1;
      if (count > 0) this.#held.set(group, count);
      else this.#held.delete(group);
    }
    const free = [...this.#heldBack].filter(({ group }) => !this.#held.has(group));
    for (const known of free) this.#heldBack.delete(known);
    if (!this.#stopped) for (const known of free) this.#join(known);
  }

  #join(known: Known): void {
    if (this.#held.has(known.group)) return void this.#heldBack.add(known);
    const run = this.#runInPlace(known);
    this.#runs.add(run);
    void run.then(() => this.#runs.delete(run));
  }

  /** Runs in a slot. Queued work of a stopped queue stays in the store. */
  async #runInPlace(known: Known): Promise<void> {
    using place = await this.#places.enter(known.group, () => known.awaited || known.awaitedAgain);
    if (this.#stopped) return;
    if (this.#held.has(known.group)) return void this.#heldBack.add(known);
    await this.#run(known, place);
  }

  async #run(known: Known, place: WorkSlot): Promise<void> {
    known.state = "running";
    this.#options.onChange?.(known, "running");
    try {
      await this.#options.run(known, this.#abort.signal, place);
    } catch (error) {
      this.#options.onError(known, error);
    } finally {
      [known.awaited, known.awaitedAgain] = [known.awaitedAgain, false];
      if (this.#isWokenAgain(known)) this.#enqueue(known);
      else this.#forget(known);
    }
  }

  #isWokenAgain({ state }: Known): boolean {
    return state === "again" && !this.#stopped;
  }

  #forget(known: Known): void {
    this.#sessions.delete(known.session);
    this.#options.onChange?.(known, undefined);
  }
}
