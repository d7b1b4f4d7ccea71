import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "pino";

import { describeCarriedOut } from "../../domain/work/describe-sub-agent.ts";
import { isAwaited, type SubAgent } from "../../domain/work/sub-agent.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { DueTimer } from "../../lib/time/due-timer.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import { scratchFolderOf } from "../../sandbox/workspace/scratch-folder.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { LiveSubAgent } from "../../stores/contract/sub-agent-store.ts";
import { type HandedOver, handOver } from "./hand-over.ts";

export interface SubAgentLifecycleNeeds {
  readonly store: { readonly subAgents: Pick<Store["subAgents"], "live" | "end" | "deliver" | "removed"> };
  /** Tells the worker on this turn that the store has ended it. */
  readonly turnEnded: (turn: Turn, reason: string) => Promise<void>;
  readonly pool: Pick<SessionPool, "stop">;
  readonly groups: { byName(name: string): Group | undefined };
  /** Folders of the home. */
  readonly paths: { readonly groups: string; readonly incoming: string; readonly sessions: string };
  /** Returns the bytes that may still go into a group's folder. */
  readonly roomIn: (folder: string) => Promise<number>;
  /** Returns the name of the folder in which the agent of a session works. */
  readonly folderOfSession: (group: Group, session: Pick<Session, "key">) => string;
  readonly workAdded: () => void;
  /** Has a session go on with its turn. */
  readonly wakeSession: (queued: { readonly session: string; readonly group: string }) => void;
  readonly estimateTokens: (text: string) => number;
  readonly publish: Publish<"agent.ended">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Handles sub-agents' lives: ends those that are overdue or orphaned, delivers results, removes their data. All state
 * is in the store, so everything happens once, across crashes. One timer for all, none without sub-agents.
 */
export class SubAgentLifecycle implements AsyncDisposable {
  readonly #needs: SubAgentLifecycleNeeds;
  /** By id, on the clock that only runs forward. */
  readonly #deadlines = new Map<string, number>();
  /** Sub-agents at the last look. */
  #live: readonly LiveSubAgent[] = [];
  readonly #timer: DueTimer;

  constructor(needs: SubAgentLifecycleNeeds) {
    this.#needs = needs;
    this.#timer = new DueTimer({
      look: () => this.#look(),
      onError: (error) => needs.logger.error({ err: toError(error) }, "could not see to sub-agents; retrying"),
    });
  }

  /** Something has begun, ended, or may have. */
  changed(): void {
    void this.#timer.changed();
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
    await this.#timer.changed();
    return isEnded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer[Symbol.dispose]();
    await this.#timer.idle();
  }

  /** Milliseconds until the time of one is over. One that cannot be seen to now does not keep the others waiting. */
  async #look(): Promise<number | undefined> {
    this.#live = await this.#needs.store.subAgents.live();
    const failures: unknown[] = [];
    for (const agent of this.#live) await this.#see(agent).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    const running = this.#live.filter(({ state }) => state === "running");
    return running.length === 0 ? undefined : Math.min(...running.map((agent) => this.#leftMs(agent)));
  }

  async #see(agent: LiveSubAgent): Promise<void> {
    if (this.#timer.isOver) return;
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
    const { store, turnEnded, clock, estimateTokens } = this.#needs;
    const { id, state, reason } = end;
    const turns = await store.subAgents.end(id, { state, reason, at: clock.now(), estimateTokens });
    this.changed();
    if (turns === undefined) return false;
    for (const turn of turns) await turnEnded(turn, reason);
    return true;
  }

  /** Delivers the result, after ending the container so that nothing changes. */
  async #deliver(agent: LiveSubAgent): Promise<void> {
    const { store, pool, publish, workAdded, wakeSession, clock } = this.#needs;
    const { id, session, group, turn, parent, state, background, depth, createdAt, endedAt = createdAt } = agent;
    if (session !== undefined) await pool.stop(session, "its sub-agent has ended");
    const isWanted = session !== undefined && state !== "cancelled" && !isOrphan(agent);
    const { files, omitted } = isWanted ? await this.#handOver({ ...agent, session }) : { files: [], omitted: 0 };
    const elapsedMs = Math.max(0, endedAt - createdAt);
    const data = { id, state, background, depth, elapsedMs, files: files.length, omitted };
    await publish({ type: "agent.ended", group, session: parent, turn, actor: "host", data });
    const more = omitted === 0 ? [] : [`(${omitted} more could not be handed over)`];
    const listed = [...files, ...more];
    await store.subAgents.deliver(id, {
      files: listed,
      text: describeCarriedOut({ ...agent, files: listed }),
      at: clock.now(),
    });
    this.changed();
    if (background) workAdded();
    else wakeSession({ session: agent.parentKey, group });
  }

  /** Copies its files into its group's folder. */
  #handOver({ id, group: name, session, parentKey }: LiveSubAgent & { readonly session: string }): Promise<HandedOver> {
    const { groups, paths, roomIn, folderOfSession } = this.#needs;
    const group = groups.byName(name);
    const folder = group ? folderOfSession(group, { key: parentKey }) : name;
    return handOver(
      { groupsFolder: paths.groups, temporaryFolder: paths.incoming, roomFor: roomIn, hostUid: hostUid() },
      { id, folder, scratch: scratchFolderOf(paths.sessions, session) },
    );
  }

  async #remove({ id, session }: LiveSubAgent): Promise<void> {
    const { store, paths, clock } = this.#needs;
    if (session !== undefined)
      // All but its log.
      for (const folder of [scratchFolderOf(paths.sessions, session), join(paths.sessions, session, "mail")])
        await rm(folder, { recursive: true, force: true });
    await store.subAgents.removed(id, clock.now());
    this.#deadlines.delete(id);
    this.changed();
  }

  /** Until its time is over by either clock. */
  #leftMs({ id, createdAt, expiresAt }: SubAgent): number {
    const { clock } = this.#needs;
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
