import type { Logger } from "pino";

import type { Group } from "../domain/group.ts";
import type { LimitHit } from "../domain/limit.ts";
import type { HotContainer as HotContainerView, Session } from "../domain/session.ts";
import { toError } from "../lib/app-error.ts";
import { HotContainer } from "./hot-container.ts";
import type { HotContainerParts, Mailbox, MailboxEvents, TurnListener } from "./hot-container.ts";
import type { FoundContainer, Launcher, RunningContainer } from "./launch.ts";

/** What is opened for a container's life: see the mailbox. */
export interface MailboxRequest extends MailboxEvents {
  readonly session: string;
  readonly group: string;
  readonly generation: number;
  readonly firstId: number;
  readonly containerUid: number;
}

/** Things that happen to containers, for the audit log. Each resolves when it is on record. */
export interface PoolEvents {
  started(container: HotContainerView, elapsedMs: number): Promise<void>;
  adopted(container: HotContainerView): Promise<void>;
  refused(group: string, session: string, reason: string): Promise<void>;
  stopped(container: HotContainerView, reason: string): Promise<void>;
  limitHit(group: Group, container: HotContainerView, hit: LimitHit): Promise<void>;
  orphanRemoved(name: string, reason: string): Promise<void>;
}

export interface PoolParts {
  readonly launcher: Launcher;
  readonly sessions: {
    nextGeneration(id: string): Promise<number>;
    nextMailboxBlock(id: string): Promise<number>;
  };
  readonly openMailbox: (request: MailboxRequest) => Promise<Mailbox>;
  readonly mailFolder: (session: string, generation: number) => string;
  readonly containerLog: (
    session: string,
    group: string,
    level: "debug" | "info" | "warn" | "error",
    text: string,
  ) => void;
  readonly events: PoolEvents;
  /** The quota of groups' folders: `admit` throws when a group may not have a container now. */
  readonly workspaces: { admit(group: string): Promise<void>; released(group: string): void };
  readonly limits: { readonly maxHot: number; readonly idleStopMs: number; readonly readyTimeoutMs: number };
  readonly now: () => number;
  readonly logger: Logger;
}

/** Ids that one mailbox block spans; a container's life never needs as many. */
const mailboxBlockSize = 1_000_000;

/**
 * The hot containers, at most one per session and `maxHot` in all. Callers make sure that no more turns than `maxHot` run
 * at once, so a place can always be made by stopping the idle container that was used least recently.
 */
export class SessionPool implements AsyncDisposable {
  readonly #parts: PoolParts;
  readonly #hot = new Map<string, HotContainer>();
  readonly #idleTimers = new Map<string, NodeJS.Timeout>();
  readonly #closing = new Set<Promise<void>>();
  /** Places promised to containers that are being started. */
  readonly #starting = new Set<string>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  list(): HotContainerView[] {
    return [...this.#hot.values()].map((container) => container.view());
  }

  /** The session's hot container, or a new one, busy with the listener's turn until `release`. */
  async acquire(group: Group, session: Session, listener: TurnListener): Promise<HotContainer> {
    await this.#admit(group.name, session.id);
    const fingerprint = await this.#parts.launcher.fingerprint(group);
    const hot = this.#hot.get(session.id);
    if (hot?.state === "idle" && hot.fingerprint === fingerprint) {
      this.#clearIdleTimer(session.id);
      hot.occupy(listener);
      return hot;
    }
    if (hot) await this.#close(hot, hot.state === "idle" ? "its configuration changed" : "it was being closed");
    this.#starting.add(session.id);
    try {
      await this.#makeRoom();
      return await this.#start(group, session, { fingerprint, listener });
    } finally {
      this.#starting.delete(session.id);
    }
  }

  /** The turn is over: the container stays hot until it has been idle for too long. */
  release(session: string): void {
    const hot = this.#hot.get(session);
    if (!hot) return;
    // What happened since the last tool call would otherwise count for the next turn.
    void hot.limitHits();
    hot.release();
    this.#parts.workspaces.released(hot.view().group);
    if (hot.state !== "idle") return;
    const timer = setTimeout(() => {
      if (hot.state === "idle") this.#track(this.#close(hot, "it was idle for too long"));
    }, this.#parts.limits.idleStopMs);
    timer.unref();
    this.#clearIdleTimer(session);
    this.#idleTimers.set(session, timer);
  }

  /** Ends the container of a session, busy or not. False when it has none. */
  async stop(session: string, reason: string): Promise<boolean> {
    const hot = this.#hot.get(session);
    if (!hot) return false;
    await this.#close(hot, reason);
    return true;
  }

  /**
   * Looks at the containers that carry this home's label. One that is what its session would get now, and that no turn was
   * using when the host ended, is taken over; all others are removed.
   */
  async reconcile(
    find: (session: string) => Promise<{ group: Group; session: Session; busy: boolean } | undefined>,
  ): Promise<void> {
    const found = await this.#parts.launcher.found();
    await Promise.all(found.map((container) => this.#reconcileOne(container, find)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#hot.values()].map((hot) => this.#close(hot, "the host is stopping")));
    await Promise.all(this.#closing);
  }

  async #start(
    group: Group,
    session: Session,
    { fingerprint, listener }: { fingerprint: string; listener: TurnListener },
  ): Promise<HotContainer> {
    const { launcher, sessions, events, limits } = this.#parts;
    const begun = performance.now();
    const plan = await launcher.plan(group, session);
    for (const refused of plan.refusedMounts)
      this.#parts.containerLog(session.id, group.name, "warn", `mount refused: ${refused}`);
    const generation = await sessions.nextGeneration(session.id);
    const parts = await this.#containerParts(group, session, { fingerprint, generation, uid: plan.uid });
    const folder = this.#parts.mailFolder(session.id, generation);
    try {
      const hot = await HotContainer.start(parts, () => plan.start(generation, folder), limits.readyTimeoutMs);
      hot.occupy(listener);
      this.#hot.set(session.id, hot);
      await events.started(hot.view(), performance.now() - begun);
      return hot;
    } catch (error) {
      await events.refused(group.name, session.id, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  async #containerParts(
    group: Group,
    session: Session,
    life: { fingerprint: string; generation: number; uid: number },
  ): Promise<HotContainerParts> {
    const block = await this.#parts.sessions.nextMailboxBlock(session.id);
    return {
      session: session.id,
      group: group.name,
      fingerprint: life.fingerprint,
      openMailbox: (mail) =>
        this.#parts.openMailbox({
          ...mail,
          session: session.id,
          group: group.name,
          generation: life.generation,
          firstId: block * mailboxBlockSize,
          containerUid: life.uid,
        }),
      onLog: (level, text) => this.#parts.containerLog(session.id, group.name, level, text),
      onGone: (container, reason) => this.#gone(session.id, container, reason),
      onLimit: (container, hit) => this.#track(this.#parts.events.limitHit(group, container.view(), hit)),
      now: this.#parts.now,
    };
  }

  async #reconcileOne(
    found: FoundContainer,
    find: (session: string) => Promise<{ group: Group; session: Session; busy: boolean } | undefined>,
  ): Promise<void> {
    try {
      const owner = await find(found.session);
      const reason = await this.#tryAdopt(found, owner);
      if (reason === undefined) return;
      await found.remove();
      await this.#parts.events.orphanRemoved(found.name, reason);
    } catch (error) {
      this.#parts.logger.error(
        { error, container: found.name },
        "a container of an earlier start could not be removed",
      );
    }
  }

  /** Why it was not taken over; undefined when it was. */
  async #tryAdopt(
    found: FoundContainer,
    owner: { group: Group; session: Session; busy: boolean } | undefined,
  ): Promise<string | undefined> {
    if (!owner) return "its session or group does not exist any more";
    if (!found.running) return "it had ended";
    if (found.generation !== owner.session.generation) return "a newer one exists";
    if (owner.busy) return "a turn was using it when the host ended";
    if (this.#hot.size >= this.#parts.limits.maxHot) return "there are enough hot containers";
    const folder = this.#parts.mailFolder(owner.session.id, found.generation);
    const running: RunningContainer | string = await found.adopt(owner.group, owner.session, folder);
    if (typeof running === "string") return running;
    const fingerprint = await this.#parts.launcher.fingerprint(owner.group);
    const life = { fingerprint, generation: found.generation, uid: running.uid };
    try {
      const hot = await HotContainer.adopt(await this.#containerParts(owner.group, owner.session, life), running);
      this.#hot.set(owner.session.id, hot);
      this.release(owner.session.id);
      await this.#parts.events.adopted(hot.view());
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** A group that may not work keeps no container either: what still runs in it could go on taking. */
  async #admit(group: string, session: string): Promise<void> {
    try {
      await this.#parts.workspaces.admit(group);
    } catch (error) {
      await this.stop(session, toError(error).message);
      throw error;
    }
  }

  async #makeRoom(): Promise<void> {
    // One that has just started may be in both.
    while (new Set([...this.#hot.keys(), ...this.#starting]).size > this.#parts.limits.maxHot) {
      const idle = [...this.#hot.values()].filter((hot) => hot.state === "idle");
      const oldest = idle.toSorted((a, b) => a.lastUsedAt - b.lastUsedAt)[0];
      if (!oldest) return;
      await this.#close(oldest, "its place was needed");
    }
  }

  async #close(hot: HotContainer, reason: string): Promise<void> {
    await hot.close(reason);
  }

  #gone(session: string, container: HotContainer, reason: string): void {
    if (this.#hot.get(session) === container) {
      this.#hot.delete(session);
      this.#clearIdleTimer(session);
    }
    const view = container.view();
    if (view.container !== "") this.#track(this.#parts.events.stopped(view, reason));
  }

  #clearIdleTimer(session: string): void {
    clearTimeout(this.#idleTimers.get(session));
    this.#idleTimers.delete(session);
  }

  /** Work that nobody waits for now, but that `dispose` waits for. */
  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => this.#parts.logger.error({ error }, "a container could not be ended in good order"))
      .finally(() => this.#closing.delete(tracked));
    this.#closing.add(tracked);
  }
}
