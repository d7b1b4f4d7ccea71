import type { Logger } from "pino";

import { describeResult } from "../../tools/sub-agents/render-sub-agent.ts";
import { isAwaited, type SubAgent } from "../../domain/work/sub-agent.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { DueTimer } from "../../lib/time/due-timer.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { LiveSubAgent } from "../../stores/contract/sub-agent-store.ts";
import type { HandedOver } from "./hand-over.ts";

export interface SubAgentServiceOptions {
  readonly store: Pick<Store["subAgents"], "live" | "end" | "deliver" | "removed">;
  /** Tells the worker on this turn that the store has ended it. */
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
 * Handles sub-agents' lives: ends those that are overdue or orphaned, delivers results, removes their data. All state
 * is in the store, so everything happens once, across crashes. One timer for all, none without sub-agents.
 */
export class SubAgentService implements AsyncDisposable {
  readonly #options: SubAgentServiceOptions;
  /** By id, on the clock that only runs forward. */
  readonly #deadlines = new Map<string, number>();
  /** Sub-agents at the last look. */
  #live: readonly LiveSubAgent[] = [];
  readonly #lookout: DueTimer;

  constructor(options: SubAgentServiceOptions) {
    this.#options = options;
    this.#lookout = new DueTimer({
      look: () => this.#look(),
      onError: (error) => options.logger.error({ err: toError(error) }, "could not see to sub-agents; retrying"),
    });
  }

  /** Something has begun, ended, or may have. */
  changed(): void {
    void this.#lookout.changed();
  }

  /** A turn has ended, or a conversation: that matters to those who work for it. Costs nothing while there are none. */
  turnsEnded(): void {
    if (this.#live.length > 0) this.changed();
  }

  /** Those that the turn waits for, as far as is known without asking. */
  awaitedBy(turn: string): readonly SubAgent[] {
    return this.#live.filter((agent) => agent.turn === turn && isAwaited(agent));
  }

  /** Ends one, and resolves when its end is stored. False when it had ended before. */
  async cancel(id: string, reason: string): Promise<boolean> {
    const isEnded = await this.#end({ id, state: "cancelled", reason });
    await this.#lookout.changed();
    return isEnded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lookout[Symbol.dispose]();
    await this.#lookout.idle();
  }

  /** Milliseconds until the time of one is over. One that cannot be seen to now does not keep the others waiting. */
  async #look(): Promise<number | undefined> {
    this.#live = await this.#options.store.live();
    const failures: unknown[] = [];
    for (const agent of this.#live) await this.#see(agent).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    const running = this.#live.filter(({ state }) => state === "running");
    return running.length === 0 ? undefined : Math.min(...running.map((agent) => this.#leftMs(agent)));
  }

  async #see(agent: LiveSubAgent): Promise<void> {
    if (this.#lookout.isOver) return;
    if (agent.state === "running") await this.#endIfDue(agent);
    else if (agent.deliveredAt === undefined) await this.#deliver(agent);
    else await this.#remove(agent);
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
    this.changed();
    if (turns === undefined) return false;
    for (const turn of turns) await turnEnded(turn, reason);
    return true;
  }

  /** Delivers the result, after ending the container so that nothing changes. */
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
    this.changed();
    wake(agent);
  }

  async #remove({ id, session }: LiveSubAgent): Promise<void> {
    const { store, clear, clock } = this.#options;
    if (session !== undefined) await clear(session);
    await store.removed(id, clock.now());
    this.#deadlines.delete(id);
    this.changed();
  }

  /** Until its time is over by either clock. */
  #leftMs({ id, createdAt, expiresAt }: SubAgent): number {
    const { clock } = this.#options;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const deadline = this.#deadlines.get(id) ?? monotonic + Math.min(expiresAt - createdAt, expiresAt - now);
    this.#deadlines.set(id, deadline);
    return Math.min(expiresAt - now, deadline - monotonic);
  }
}

/** True when nobody waits for its result: the waiting turn has ended, or its conversation is over. */
function isOrphan({ background, turnState, isForgotten }: LiveSubAgent): boolean {
  if (isForgotten) return true;
  return background ? turnState === "failed" || turnState === "cancelled" : turnState !== "running";
}
