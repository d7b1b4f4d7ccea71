import { once } from "node:events";

import type { Group } from "../../domain/chats/group.ts";
import type { HotContainerView, Session } from "../../domain/turns/session.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { HotContainer, type HotContainerOptions, type TurnListener } from "./hot-container.ts";
import type { AskedContainer, FindOwner, Owner, PoolOptions, StartingContainer, Workspaces } from "./pool-options.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { adoptionFault, isOutdated } from "./adoption.ts";
import { ContainerSignals, lifeOf, ownerOfContainer, tellLimit } from "./container-events.ts";
import { Freezing } from "./freezing.ts";
import { IdlePlan } from "./idle-plan.ts";
import { Leftovers } from "./leftovers.ts";
import { MemoryRelief } from "./memory-relief.ts";
import type { FoundContainer, RunningContainer } from "./launch.ts";

/** Ids that one mailbox block spans; a container's life never needs as many. */
const mailboxBlockSize = 1_000_000;
/** Time for the engine to end all containers when the host stops. */
const endMs = 20_000;
/** Between two looks at the machine's memory. */
const memoryCheckMs = 10_000;
const stopping = "the host is stopping";

/**
 * The hot containers, at most one per session, as many as the machine's memory or `maxHot` allows. Callers make sure
 * that no more turns than `maxHot` are at work at once, so a place can be made by ending an idle container; those of
 * turns that only wait for their tools come on top.
 */
export class SessionPool implements AsyncDisposable {
  readonly signals = new ContainerSignals();
  readonly #options: PoolOptions;
  readonly #workspaces: Workspaces;
  readonly #hot = new Map<string, HotContainer>();
  readonly #idle: IdlePlan;
  readonly #memory: MemoryRelief;
  readonly #memoryTimer: NodeJS.Timeout;
  readonly #freezing: Freezing;
  readonly #pending: PendingWork;
  /** Containers that turns have asked for and not got yet, by session. */
  readonly #starting = new Map<string, StartingContainer>();
  readonly #leftovers: Leftovers;
  readonly #stop = new AbortController();
  /** Sessions in whose containers something runs between turns. */
  readonly #held = new Set<string>();
  /** Sessions whose containers were busy when the configuration changed. */
  readonly #doubtful = new Set<string>();
  #groupOf: ((name: string) => Group | undefined) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#workspaces = options.watchWorkspaces(this);
    this.#freezing = new Freezing(options);
    this.#pending = new PendingWork((error) =>
      options.logger.error({ error }, "a container could not be ended cleanly"),
    );
    this.#leftovers = new Leftovers({
      found: () => options.launcher.found(),
      inUse: ({ session, generation }) =>
        this.#hot.get(session)?.view().generation === generation ||
        this.#starting.get(session)?.generation === generation,
      removed: (name, reason) => this.#tellRemoved(name, reason),
      logger: options.logger,
    });
    this.#idle = new IdlePlan({
      times: () => ({ freezeMs: options.limits.freezeMs, stopMs: options.limits.idleStopMs }),
      freeze: (session) => void this.#freezing.freeze(this.#hot.get(session)),
      stop: (session) => this.#endIdle(session, "it was idle for too long"),
    });
    this.#memory = new MemoryRelief({
      idle: () => this.#idleOnes(),
      isNeeded: (hot) => this.isHeld(hot.view().session),
      availableMb: options.availableMemoryMb,
      get reserveMb() {
        return options.limits.memoryReserveMb;
      },
      now: options.now,
    });
    this.#memoryTimer = setInterval(() => this.#pending.add(this.#relieve()), memoryCheckMs).unref();
  }

  list(): HotContainerView[] {
    return [...this.#hot.values()].map((container) => container.view());
  }

  /** The session's hot container, or a new one, busy with the listener's turn until `release`. */
  async acquire(group: Group, session: Session, listener: TurnListener): Promise<HotContainer> {
    if (this.#stop.signal.aborted) throw new AppError("container_lost", "The host is stopping.");
    await this.#admit(group.name, session.id);
    const starting: StartingContainer = { over: Promise.withResolvers() };
    this.#starting.set(session.id, starting);
    const acquired = this.#reuseOrStart(group, session, { listener, starting }).finally(() => {
      this.#starting.delete(session.id);
      starting.over.resolve();
    });
    this.#pending.add(acquired.catch(() => undefined));
    return acquired;
  }

  /** The turn is over: the container stays hot until it has been idle for too long. */
  release(session: string): void {
    const hot = this.#hot.get(session);
    if (!hot) return;
    // What happened since the last tool call would otherwise count for the next turn.
    void hot.limitHits();
    hot.release();
    this.#workspaces.released(hot.view().group);
    this.#options.mounts.released(session);
    this.#rest(session);
    this.#pending.add(this.#endExcess());
    if (this.#doubtful.delete(session)) this.#pending.add(this.#endIfOutdated(session));
  }

  /** Keeps the session's container from being frozen or ended while idle, until `letRest`. */
  hold(session: string): void {
    this.#held.add(session);
  }

  /** Lets the session's container be frozen and ended in time, when it is idle. */
  letRest(session: string): void {
    this.#held.delete(session);
    this.#rest(session);
  }

  /** True while something runs in the session's container between turns. */
  isHeld(session: string): boolean {
    return this.#held.has(session);
  }

  /** Tells the session's agent to end a job. False: the session has no container. */
  async stopJob(session: string, job: string): Promise<boolean> {
    const hot = this.#hot.get(session);
    await hot?.send({ type: "job-stop", job });
    return hot !== undefined;
  }

  /** Ends the container of a session, busy or not, once it has started. False when it has none. */
  async stop(session: string, reason: string): Promise<boolean> {
    await this.#starting.get(session)?.over.promise;
    const hot = this.#hot.get(session);
    if (!hot) return false;
    await hot.close(reason);
    return true;
  }

  /** Ends the container of a session, busy or not, unless it belongs to its latest conversation. */
  async retire(session: Pick<Session, "id" | "generation">, reason: string): Promise<void> {
    const hot = this.#hot.get(session.id);
    if (hot && isOutdated(hot, session)) await hot.close(reason);
  }

  /**
   * Ends idle containers that their groups would no longer get, and those of removed groups; a busy one is checked
   * after its turn. For changes of the configuration, which must take effect before the next turn.
   */
  endOutdated(groupOf: (name: string) => Group | undefined): void {
    this.#groupOf = groupOf;
    for (const [session, hot] of this.#hot) {
      if (hot.state === "idle") this.#pending.add(this.#endIfOutdated(session));
      else this.#doubtful.add(session);
    }
  }

  /**
   * Looks at the containers that carry this home's label. One that is what its session would get now, and that no turn
   * was using when the host ended, is taken over; all others are removed.
   */
  async reconcile(find: FindOwner): Promise<void> {
    const found = await this.#options.launcher.found();
    await Promise.all(found.map((container) => this.#reconcileOne(container, find)));
    await this.signals.reconciled.emit();
  }

  /** Ends all containers. Those that an engine which hangs does not end in time are found at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#memoryTimer);
    const late = AbortSignal.timeout(endMs);
    await Promise.race([this.#endAll(), once(late, "abort")]);
    if (late.aborted) this.#options.logger.error("the engine did not end all containers in time");
    await this.#workspaces[Symbol.asyncDispose]();
  }

  async #endAll(): Promise<void> {
    await Promise.all([...this.#hot.values()].map((hot) => hot.close(stopping)));
    await this.#pending.done();
    await this.#leftovers[Symbol.asyncDispose]();
  }

  async #reuseOrStart(group: Group, session: Session, asked: AskedContainer): Promise<HotContainer> {
    const fingerprint = await this.#options.launcher.fingerprint(group, session);
    const refusal = await this.#options.mounts.refusalOf(session.id);
    const hot = this.#hot.get(session.id);
    const isCurrent = hot?.fingerprint === fingerprint && !isOutdated(hot, session) && refusal === undefined;
    if (hot?.state === "idle" && isCurrent) {
      this.#idle.end(session.id);
      hot.occupy(asked.listener);
      await this.#freezing.thaw(hot);
      return hot;
    }
    if (hot) await hot.close(refusal ?? (hot.state === "idle" ? "its configuration changed" : "it was being closed"));
    await this.#endExcess();
    await this.#relieve();
    return this.#start(group, session, { ...asked, fingerprint });
  }

  async #start(
    group: Group,
    session: Session,
    { fingerprint, listener, starting }: AskedContainer & { readonly fingerprint: string },
  ): Promise<HotContainer> {
    const { launcher, sessions, publish, limits } = this.#options;
    const begun = performance.now();
    const [plan] = await Promise.all([
      launcher.plan(group, session),
      // Two containers of one session would share its folder, and the older one may still run what a turn began in it.
      this.#leftovers.removeOf(session.id),
    ]);
    for (const warning of plan.warnings) this.#options.containerLog(session.id, group.name, "warn", warning);
    const generation = await sessions.nextGeneration(session.id);
    starting.generation = generation;
    const options = await this.#containerParts(group, session, { fingerprint, generation, uid: plan.uid });
    const folder = this.#options.mailFolder(session.id, generation);
    let hot: HotContainer | undefined;
    try {
      const launch = async (): Promise<RunningContainer> =>
        this.#watchMounts(options, await plan.start(generation, folder));
      hot = await HotContainer.start(options, launch, limits.readyTimeoutMs);
      // What its agent does is measured by what was there before it was spoken to.
      const refusal = await this.#options.mounts.refusalOf(session.id);
      if (refusal !== undefined) await hot.close(refusal);
      if (this.#stop.signal.aborted) await hot.close(stopping);
      hot.occupy(listener);
      this.#hot.set(session.id, hot);
      const data = { ...lifeOf(hot.view()), elapsedMs: Math.round(performance.now() - begun) };
      await publish({ type: "container.attested", ...ownerOfContainer(hot.view()), actor: "host", data });
      return hot;
    } catch (error) {
      const { message } = toError(error);
      await hot?.close(message);
      this.#leftovers.suspect();
      const data = { reason: message };
      await publish({ type: "container.refused", group: group.name, session: session.id, actor: "host", data });
      throw error;
    }
  }

  async #containerParts(
    group: Group,
    session: Session,
    life: { fingerprint: string; generation: number; uid: number },
  ): Promise<HotContainerOptions> {
    const block = await this.#options.sessions.nextMailboxBlock(session.id);
    const run = { session: session.id, group: group.name, generation: life.generation };
    return {
      session: session.id,
      kind: session.kind,
      group: group.name,
      fingerprint: life.fingerprint,
      openMailbox: (mail) =>
        this.#options.openMailbox({
          ...mail,
          session: session.id,
          group: group.name,
          generation: life.generation,
          firstId: block * mailboxBlockSize,
          containerUid: life.uid,
        }),
      onLog: (level, text) => this.#options.containerLog(session.id, group.name, level, text),
      onJob: (payload, turn) => this.signals.job.emit({ run, payload, turn }),
      onGone: (container, reason) => this.#gone(session.id, container, reason),
      onLimit: (container, hit) =>
        this.#pending.add(tellLimit(this.#options, { group, container: container.view(), hit })),
      stop: this.#stop.signal,
      onLeftBehind: () => this.#leftovers.suspect(),
      now: this.#options.now,
    };
  }

  async #reconcileOne(found: FoundContainer, find: FindOwner): Promise<void> {
    try {
      const owner = await find(found.session);
      const reason = await this.#tryAdopt(found, owner);
      if (reason === undefined) return;
      await found.remove();
      await this.#tellRemoved(found.name, reason);
    } catch (error) {
      this.#options.logger.error(
        { error, container: found.name },
        "a container of an earlier start could not be removed",
      );
      this.#leftovers.suspect();
    }
  }

  /** Tries to take over a container; returns the reason when it did not. */
  async #tryAdopt(found: FoundContainer, owner: Owner | undefined): Promise<string | undefined> {
    if (this.#hot.get(found.session)?.view().generation === found.generation) return undefined;
    const fault = adoptionFault(found, owner, this.#hot.size >= (this.#options.limits.maxHot ?? Infinity));
    if (!owner || fault !== undefined) return fault;
    const folder = this.#options.mailFolder(owner.session.id, found.generation);
    const running: RunningContainer | string = await found.adopt(owner.group, owner.session, folder);
    if (typeof running === "string") return running;
    const fingerprint = await this.#options.launcher.fingerprint(owner.group, owner.session);
    const life = { fingerprint, generation: found.generation, uid: running.uid };
    try {
      const options = await this.#containerParts(owner.group, owner.session, life);
      // Before its mailbox is opened, in which their ends may be.
      await this.signals.adopted.emit({ ...options, generation: found.generation });
      const hot = await HotContainer.adopt(options, this.#watchMounts(options, running));
      this.#hot.set(owner.session.id, hot);
      if (this.isHeld(hot.view().session)) await this.#freezing.thaw(hot);
      this.release(owner.session.id);
      const data = lifeOf(hot.view());
      await this.#options.publish({ type: "container.adopted", ...ownerOfContainer(hot.view()), actor: "host", data });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** A group that may not work keeps no container either: what still runs in it could go on taking. */
  async #admit(group: string, session: string): Promise<void> {
    try {
      await this.#workspaces.admit(group);
    } catch (error) {
      await this.stop(session, toError(error).message);
      throw error;
    }
  }

  /**
   * Ends idle containers until there are no more than `maxHot`. Those of turns that only wait for their tools may be
   * more.
   */
  async #endExcess(): Promise<void> {
    const { maxHot = Infinity } = this.#options.limits;
    // One that has just started may be in both.
    while (new Set([...this.#hot.keys(), ...this.#starting.keys()]).size > maxHot) {
      const held = (hot: HotContainer): number => Number(this.isHeld(hot.view().session));
      const [oldest] = this.#idleOnes().toSorted((a, b) => held(a) - held(b) || a.lastUsedAt - b.lastUsedAt);
      if (!oldest) break;
      await oldest.close("its place was needed");
    }
  }

  async #endIfOutdated(session: string): Promise<void> {
    const hot = this.#hot.get(session);
    if (!hot) return;
    const group = this.#groupOf?.(hot.view().group);
    const { launcher } = this.#options;
    const now = group && (await launcher.fingerprint(group, { id: session, kind: hot.kind }));
    const isCurrent = group !== undefined && now === hot.fingerprint;
    // One that has got work in between was looked at for it.
    if (isCurrent || hot.state !== "idle") return;
    await hot.close(group ? "its configuration changed" : "its group was removed");
  }

  #relieve(): Promise<void> {
    return this.#memory.relieve([...this.#starting.keys()].filter((session) => !this.#hot.has(session)).length);
  }

  #rest(session: string): void {
    if (this.#hot.get(session)?.state === "idle" && !this.isHeld(session)) this.#idle.begin(session);
  }

  #idleOnes(): HotContainer[] {
    return [...this.#hot.values()].filter((hot) => hot.state === "idle");
  }

  #watchMounts(owner: Pick<HotContainerOptions, "group" | "session">, running: RunningContainer): RunningContainer {
    this.#options.mounts.begin(owner, running, (reason) => this.#endIdle(owner.session, reason));
    return running;
  }

  #endIdle(session: string, reason: string): void {
    const hot = this.#hot.get(session);
    if (hot?.state === "idle") this.#pending.add(hot.close(reason));
  }

  #gone(session: string, container: HotContainer, reason: string): void {
    if (this.#hot.get(session) === container) {
      this.#hot.delete(session);
      this.#idle.end(session);
    }
    const view = container.view();
    if (view.container === "") return;
    this.#pending.add(this.signals.ended.emit({ run: view, reason }));
    const data = { ...lifeOf(view), reason };
    this.#pending.add(
      this.#options.publish({ type: "container.stopped", ...ownerOfContainer(view), actor: "host", data }),
    );
  }

  async #tellRemoved(name: string, reason: string): Promise<void> {
    await this.#options.publish({ type: "container.removed", actor: "host", data: { name, reason } });
  }
}
