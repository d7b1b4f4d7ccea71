import type { Logger } from "pino";

import { describeResult } from "../context/render-sub-agent.ts";
import type { SubAgent } from "../domain/sub-agent.ts";
import type { Turn } from "../domain/turn.ts";
import type { Publish } from "../events/event.ts";
import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Store } from "../stores/store.ts";
import type { LiveSubAgent } from "../stores/sub-agent-store.ts";
import type { HandedOver } from "./hand-over.ts";

/** The wall clock may be set, or the machine sleep: nobody waits longer than this for a timer that was set before. */
const longestMs = 30_000;
const retryMs = 5_000;

export interface SubAgentDeskOptions {
  readonly store: Pick<Store["subAgents"], "live" | "end" | "deliver" | "removed">;
  /** The store has ended this turn: whoever works on it has to let go. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  /** Ends the container of its session, with all that still runs in it. */
  readonly endContainer: (session: string, reason: string) => Promise<void>;
  /** Copies its files into its group's folder. */
  readonly handOver: (agent: LiveSubAgent & { readonly session: string }) => Promise<HandedOver>;
  /** Removes what is left of its session but its log. */
  readonly clear: (session: string) => Promise<void>;
  /** Its parent's turn can go on, or has work. */
  readonly wake: (agent: LiveSubAgent) => void;
  readonly estimateTokens: (text: string) => number;
  readonly publish: Publish<"agent.ended">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sees what becomes of sub-agents: ends those whose time is over or that nobody waits for any more, hands over the results of those that
 * have ended, and removes what they have left. What is to be done is in the store, so that it is done once over all crashes. One
 * timer for all, none while there are none.
 */
export class SubAgentDesk implements AsyncDisposable {
  readonly #options: SubAgentDeskOptions;
  /** By id, on the clock that only runs forward. */
  readonly #deadlines = new Map<string, number>();
  /** As they were when they were last looked at. */
  #live: readonly LiveSubAgent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isStale = false;
  #isOver = false;

  constructor(options: SubAgentDeskOptions) {
    this.#options = options;
  }

  /** Something has begun, ended, or may have. */
  changed(): void {
    void this.look();
  }

  /** A turn has ended, or a conversation: that matters to those who work for it. Costs nothing while there are none. */
  turnsEnded(): void {
    if (this.#live.length > 0) this.changed();
  }

  /** Those that the turn waits for, as far as is known without asking. */
  awaitedBy(turn: string): readonly SubAgent[] {
    return this.#live.filter((agent) => agent.turn === turn && !agent.background && agent.deliveredAt === undefined);
  }

  /** Ends one, and resolves when its end is stored. False when it had ended before. */
  async cancel(id: string, reason: string): Promise<boolean> {
    const isEnded = await this.#end({ id, state: "cancelled", reason });
    await this.look();
    return isEnded;
  }

  /** Resolves when what there was to see has been seen. Never rejects. */
  async look(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookUntilFresh().finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #lookUntilFresh(): Promise<void> {
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false;
      clearTimeout(this.#timer);
      this.#live = await this.#options.store.live().catch((error: unknown) => this.#failed(error));
      for (const agent of this.#live) await this.#see(agent);
      this.#plan();
    }
  }

  /** One that cannot be seen to now does not keep the others waiting. */
  async #see(agent: LiveSubAgent): Promise<void> {
    if (this.#isOver) return;
    try {
      if (agent.state === "running") await this.#endIfDue(agent);
      else if (agent.deliveredAt === undefined) await this.#deliver(agent);
      else await this.#remove(agent);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): readonly LiveSubAgent[] {
    this.#options.logger.error({ err: toError(error) }, "could not see to sub-agents; retrying");
    this.#lookIn(retryMs);
    return this.#live;
  }

  async #endIfDue(agent: LiveSubAgent): Promise<void> {
    const { id } = agent;
    if (isOrphan(agent)) {
      await this.#end({ id, state: "cancelled", reason: "what it worked for has ended" });
    } else if (this.#leftMs(agent) <= 0) {
      const minutes = Math.round((agent.expiresAt - agent.createdAt) / 60_000);
      const reason = `its time was over (${minutes < 1 ? "less than a minute" : `${minutes} min`})`;
      await this.#end({ id, state: "expired", reason });
    } else if (!agent.hasWork) {
      await this.#end({ id, state: "cancelled", reason: "its work was dropped" });
    }
  }

  async #end(end: {
    readonly id: string;
    readonly state: "cancelled" | "expired";
    readonly reason: string;
  }): Promise<boolean> {
    const { store, turnEnded, clock, estimateTokens } = this.#options;
    const { id, state, reason } = end;
    const turns = await store.end(id, { state, reason, at: clock.now(), estimateTokens });
    this.#isStale = true;
    if (turns === undefined) return false;
    for (const turn of turns) await turnEnded(turn, reason);
    return true;
  }

  /** Its container is ended first, so that nothing changes any more. */
  async #deliver(agent: LiveSubAgent): Promise<void> {
    const { store, endContainer, handOver, publish, wake, clock } = this.#options;
    const { id, session, group, turn, parent, state, background, depth, createdAt, endedAt = createdAt } = agent;
    if (session !== undefined) await endContainer(session, "its sub-agent has ended");
    const isWanted = session !== undefined && state !== "cancelled" && !isOrphan(agent);
    const { files, omitted } = isWanted ? await handOver({ ...agent, session }) : { files: [], omitted: 0 };
    const elapsedMs = Math.max(0, endedAt - createdAt);
    const data = { id, state, background, depth, elapsedMs, files: files.length, omitted };
    await publish({ type: "agent.ended", group, session: parent, turn, actor: "host", data });
    const more = omitted === 0 ? [] : [`(${omitted} more could not be handed over)`];
    const listed = [...files, ...more];
    await store.deliver(id, { files: listed, text: describeResult({ ...agent, files: listed }), at: clock.now() });
    this.#isStale = true;
    wake(agent);
  }

  async #remove({ id, session }: LiveSubAgent): Promise<void> {
    const { store, clear, clock } = this.#options;
    if (session !== undefined) await clear(session);
    await store.removed(id, clock.now());
    this.#deadlines.delete(id);
    this.#isStale = true;
  }

  #plan(): void {
    const running = this.#live.filter(({ state }) => state === "running");
    if (running.length === 0 || this.#isStale) return;
    this.#lookIn(Math.min(longestMs, ...running.map((agent) => Math.max(0, this.#leftMs(agent)))));
  }

  /** Until its time is over by either clock. */
  #leftMs({ id, createdAt, expiresAt }: SubAgent): number {
    const { clock } = this.#options;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const deadline = this.#deadlines.get(id) ?? monotonic + Math.min(expiresAt - createdAt, expiresAt - now);
    this.#deadlines.set(id, deadline);
    return Math.min(expiresAt - now, deadline - monotonic);
  }

  #lookIn(delayMs: number): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.changed(), delayMs).unref();
  }
}

/** Nobody waits for its result: the turn that does has ended, or has failed or was cancelled, or its conversation is over. */
function isOrphan({ background, turnState, isForgotten }: LiveSubAgent): boolean {
  if (isForgotten) return true;
  return background ? turnState === "failed" || turnState === "cancelled" : turnState !== "running";
}
