import type { HotContainerView, SessionKind } from "../../domain/turns/session.ts";
import type { LimitCounters, LimitHit } from "../../domain/turns/limit.ts";
import type { HostileCopy } from "../../lib/files/open-hostile-file.ts";
import { AppError } from "../../lib/app-error.ts";
import type { AgentMessage, AgentPayload, HostPayload, ProbeReport } from "../../protocol/messages.ts";
import type { HostMailbox } from "../mailbox/host-mailbox.ts";
import { describeExit, hitsBetween } from "./container-limits.ts";
import type { RunningContainer } from "./launch.ts";

/** An agent's messages about background jobs, in any turn. */
export type JobPayload = Extract<AgentPayload, { type: "job-started" | "job-ended" }>;

/** Whoever works with a container during a turn. Called in the order of the mailbox; neither may throw. */
export interface TurnListener {
  /** The turn's id. */
  readonly turn: string;
  onMessage(payload: Exclude<AgentPayload, JobPayload>): void;
  /** The container is gone or was ended; nothing more will come. */
  onLost(reason: string): void;
}

/** The part of a mailbox that a container needs. */
export type Mailbox = Pick<HostMailbox, "send" | "setFrozen" | "takeFile" | "giveFile" | "removeFiles"> &
  AsyncDisposable;

export interface MailboxEvents {
  readonly onMessage: (message: AgentMessage) => void | Promise<void>;
  readonly onViolation: (reason: string) => void;
  /** A message of the agent could not be read and will not come again. */
  readonly onDropped: (reason: string) => void;
}

export interface HotContainerOptions {
  readonly session: string;
  readonly kind: SessionKind;
  readonly group: string;
  readonly fingerprint: string;
  readonly openMailbox: (events: MailboxEvents) => Promise<Mailbox>;
  readonly onLog: (level: "debug" | "info" | "warn" | "error", text: string) => void;
  /** Called once, when the container has ended or must be treated as such. */
  readonly onGone: (container: HotContainer, reason: string) => void;
  /** It has reached one of its limits. */
  readonly onLimit: (container: HotContainer, hit: LimitHit) => void;
  /** Its agent says something of a job, during this turn if one runs. The mailbox waits until it is on record. */
  readonly onJob: (payload: JobPayload, turn: string | undefined) => Promise<void>;
  /** Called when it could not be removed. */
  readonly onLeftBehind: () => void;
  /** The host stops: one that is being started is not waited for. */
  readonly stop: AbortSignal;
  readonly now: () => number;
}

/**
 * One life of a session's container with its mailbox: `starting → idle ⇄ busy → closing`; an idle one may be frozen.
 * `closing` from the first close on, whatever the reason (its end, a violation of the protocol, eviction); never used
 * again after that.
 */
export class HotContainer {
  readonly fingerprint: string;
  readonly kind: SessionKind;
  readonly #options: HotContainerOptions;
  readonly #ready = Promise.withResolvers<ProbeReport>();
  readonly #closed = Promise.withResolvers<void>();
  #state: Exclude<HotContainerView["state"], "frozen"> = "starting";
  /** Set from the moment on that it is told to freeze; resolves with whether it did. */
  #freezing: Promise<boolean> | undefined;
  #running: RunningContainer | undefined;
  #mailbox: Mailbox | undefined;
  #listener: TurnListener | undefined;
  #lastUsedAt: number;
  #counted: LimitCounters = { memoryKills: 0, refusedProcesses: 0 };
  /** The limit that was the end of it. */
  #endedBy: LimitHit["limit"] | undefined;

  private constructor(options: HotContainerOptions) {
    this.#options = options;
    this.fingerprint = options.fingerprint;
    this.kind = options.kind;
    this.#lastUsedAt = options.now();
    this.#ready.promise.catch(() => undefined);
  }

  /** Opens the mailbox, starts the container, waits until its agent is ready and the attestation found nothing. */
  static async start(
    options: HotContainerOptions,
    launch: () => Promise<RunningContainer>,
    readyTimeoutMs: number,
  ): Promise<HotContainer> {
    const container = new HotContainer(options);
    const stop = (): void => void container.close("the host is stopping");
    options.stop.addEventListener("abort", stop, { once: true });
    try {
      await container.#openMailbox();
      await container.#watch(await launch());
      const probe = await container.#waitUntilReady(readyTimeoutMs);
      await container.#attest(probe);
      container.#becomeIdle();
      return container;
    } catch (error) {
      await container.close(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      options.stop.removeEventListener("abort", stop);
    }
  }

  /** Takes over a container that an earlier life of the host had left idle. */
  static async adopt(options: HotContainerOptions, running: RunningContainer): Promise<HotContainer> {
    const container = new HotContainer(options);
    try {
      await container.#watch(running);
      await container.#attest(undefined);
      // What it hit in an earlier life of the host has been told.
      container.#counted = (await running.limitCounters().catch(() => undefined)) ?? container.#counted;
      await container.#openMailbox();
      container.#becomeIdle();
      if (running.isFrozen()) {
        container.#freezing = Promise.resolve(true);
        container.#mailbox?.setFrozen(true);
      }
      return container;
    } catch (error) {
      await container.close(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  get state(): Exclude<HotContainerView["state"], "frozen"> {
    return this.#state;
  }

  get lastUsedAt(): number {
    return this.#lastUsedAt;
  }

  /** Megabytes that ending it would free; undefined when unknown. Never rejects. */
  async heldMemoryMb(): Promise<number | undefined> {
    return this.#running?.heldMemoryMb().catch(() => undefined);
  }

  view(): HotContainerView {
    return {
      session: this.#options.session,
      group: this.#options.group,
      generation: this.#running?.generation ?? 0,
      container: this.#running?.id ?? "",
      name: this.#running?.name ?? "",
      state: this.#state === "idle" && this.#freezing ? "frozen" : this.#state,
      lastUsedAt: this.#lastUsedAt,
    };
  }

  /** Gives the container to a turn. */
  occupy(listener: TurnListener): void {
    if (this.#state !== "idle") throw new AppError("container_lost", `The container is ${this.#state}, not idle.`);
    this.#state = "busy";
    this.#listener = listener;
  }

  /**
   * Takes its processor time, if it is idle. Resolves with whether it is frozen then; rejects with what the engine
   * says.
   */
  async freeze(): Promise<boolean> {
    if (this.#state !== "idle" || this.#freezing || !this.#running) return false;
    const work = this.#running.freeze();
    this.#freezing = work.then(
      () => true,
      () => false,
    );
    await work.catch((error: unknown) => {
      this.#freezing = undefined;
      throw error;
    });
    this.#mailbox?.setFrozen(true);
    return true;
  }

  /**
   * Gives it its processor time back; at once when it was not frozen. Rejects with `engine_unavailable` while the
   * engine is away; one that cannot be thawed is closed.
   */
  async thaw(): Promise<boolean> {
    if (!(await this.#freezing)) return false;
    try {
      await this.#running?.thaw();
      this.#freezing = undefined;
      this.#mailbox?.setFrozen(false);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "engine_unavailable") throw error;
      await this.close(`it could not be thawed: ${error instanceof Error ? error.message : String(error)}`);
      throw new AppError("container_lost", "The container could not be thawed.", { cause: error });
    }
  }

  /** The turn is over; the container may be used again. */
  release(): void {
    this.#listener = undefined;
    this.#lastUsedAt = this.#options.now();
    if (this.#state === "busy") this.#state = "idle";
  }

  /**
   * Limits but the one that ended it, which has been told, that it has reached since this was last asked; each is
   * reported to `onLimit`, too. Never rejects.
   */
  async limitHits(): Promise<readonly LimitHit[]> {
    const now = await this.#running?.limitCounters().catch(() => undefined);
    if (now === undefined) return [];
    const before = this.#counted;
    this.#counted = now;
    const hits = hitsBetween(before, now).filter(({ limit }) => limit !== this.#endedBy);
    for (const hit of hits) this.#options.onLimit(this, hit);
    return hits;
  }

  /** Sends to the agent. Does nothing once the container is closing: `onLost` tells the listener. */
  async send(payload: HostPayload): Promise<void> {
    if (this.#state === "closing") return;
    await this.#mailbox?.send(payload);
  }

  /** Takes a file that a result of its agent refers to, to a new one of ours. */
  async takeFile(name: string, target: string, maxBytes: number): Promise<HostileCopy> {
    if (this.#state === "closing" || !this.#mailbox) return { ok: false, reason: "missing" };
    return this.#mailbox.takeFile(name, target, maxBytes);
  }

  /** Puts a file where only its agent can read it. Gives its name; rejects with `container_lost` once it is closing. */
  async giveFile(content: Uint8Array, extension: string): Promise<string> {
    if (this.#state === "closing" || !this.#mailbox) throw new AppError("container_lost", "The container is gone.");
    return this.#mailbox.giveFile(content, extension);
  }

  /** Ends it. Later calls wait for the first one. */
  async close(reason: string): Promise<void> {
    if (this.#state === "closing") return this.#closed.promise;
    this.#state = "closing";
    this.#ready.reject(new AppError("container_lost", `The container ended before it was ready: ${reason}`));
    this.#listener?.onLost(reason);
    this.#listener = undefined;
    this.#options.onGone(this, reason);
    try {
      await this.#mailbox?.[Symbol.asyncDispose]();
      await this.#freezing;
      await this.limitHits();
      await this.#running?.remove();
      await this.#mailbox?.removeFiles();
    } catch (error) {
      this.#options.onLog("error", `ending the container (${reason}) failed: ${String(error)}`);
      this.#options.onLeftBehind();
    } finally {
      this.#closed.resolve();
    }
  }

  /** It may have ended while it was attested: what is closing never comes back. */
  #becomeIdle(): void {
    if (this.#state === "closing") throw new AppError("container_lost", "The container ended while it was attested.");
    this.#state = "idle";
  }

  async #openMailbox(): Promise<void> {
    this.#mailbox = await this.#options.openMailbox({
      onMessage: (message) => this.#receive(message.payload),
      onDropped: (reason) => {
        // A turn would wait for it for ever. Without a turn, it only counts as a violation.
        if (this.#listener) void this.close(`a message of the agent could not be read (${reason})`);
      },
      onViolation: (reason) => {
        this.#options.onLog("error", `the agent broke the mailbox protocol: ${reason}`);
        void this.close(`mailbox violation: ${reason}`);
      },
    });
    if (this.#state !== "closing") return;
    // It was opened too late to be closed with the rest.
    await this.#mailbox[Symbol.asyncDispose]();
    await this.#mailbox.removeFiles();
    await this.#ready.promise;
  }

  async #watch(running: RunningContainer): Promise<void> {
    this.#running = running;
    if (this.#state === "closing") return running.remove();
    void this.#closeAtExit(running);
  }

  async #closeAtExit(running: RunningContainer): Promise<void> {
    const exit = await running.exited;
    if (this.#state === "closing") return;
    const end = describeExit(exit);
    if (end.hit) this.#options.onLimit(this, end.hit);
    this.#endedBy = end.hit?.limit;
    await this.close(end.reason);
  }

  #receive(payload: AgentPayload): void | Promise<void> {
    if (payload.type === "job-started" || payload.type === "job-ended")
      return this.#options.onJob(payload, this.#listener?.turn);
    if (payload.type === "ready") this.#ready.resolve(payload.probe);
    else if (payload.type === "log") this.#options.onLog(payload.level, payload.text);
    else this.#listener?.onMessage(payload);
  }

  async #waitUntilReady(timeoutMs: number): Promise<ProbeReport> {
    const timer = setTimeout(() => {
      this.#ready.reject(new AppError("container_lost", `The agent was not ready after ${timeoutMs} ms.`));
    }, timeoutMs);
    try {
      return await this.#ready.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  async #attest(probe: ProbeReport | undefined): Promise<void> {
    const surprises = (await this.#running?.attest(probe)) ?? ["there is no container"];
    if (surprises.length > 0) {
      throw new AppError("attestation_failed", `The container is not what was asked for: ${surprises.join("; ")}`);
    }
  }
}
