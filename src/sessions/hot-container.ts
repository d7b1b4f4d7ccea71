import type { HotContainer as HotContainerView } from "../domain/session.ts";
import type { LimitCounters, LimitHit } from "../domain/limit.ts";
import { AppError } from "../lib/app-error.ts";
import type { AgentMessage, AgentPayload, HostPayload, ProbeReport } from "../protocol/messages.ts";
import { describeExit, hitsBetween } from "./container-limits.ts";
import type { RunningContainer } from "./launch.ts";

/** Whoever works with a container during a turn. Called in the order of the mailbox; neither may throw. */
export interface TurnListener {
  onMessage(payload: AgentPayload): void;
  /** The container is gone or was ended; nothing more will come. */
  onLost(reason: string): void;
}

/** The part of a mailbox that a container needs. */
export interface Mailbox extends AsyncDisposable {
  send(payload: HostPayload): Promise<number>;
  removeFiles(): Promise<unknown>;
}

export interface MailboxEvents {
  readonly onMessage: (message: AgentMessage) => void;
  readonly onViolation: (reason: string) => void;
}

export interface HotContainerParts {
  readonly session: string;
  readonly group: string;
  readonly fingerprint: string;
  readonly openMailbox: (events: MailboxEvents) => Promise<Mailbox>;
  readonly onLog: (level: "debug" | "info" | "warn" | "error", text: string) => void;
  /** Called once, when the container has ended or must be treated as such. */
  readonly onGone: (container: HotContainer, reason: string) => void;
  /** It has reached one of its limits. */
  readonly onLimit: (container: HotContainer, hit: LimitHit) => void;
  readonly now: () => number;
}

/**
 * One life of a session's container with its mailbox: `starting → idle ⇄ busy → closing`. `closing` from the first close
 * on, whatever the reason (its end, a violation of the protocol, eviction); never used again after that.
 */
export class HotContainer {
  readonly fingerprint: string;
  readonly #parts: HotContainerParts;
  readonly #ready = Promise.withResolvers<ProbeReport>();
  readonly #closed = Promise.withResolvers<void>();
  #state: HotContainerView["state"] = "starting";
  #running: RunningContainer | undefined;
  #mailbox: Mailbox | undefined;
  #listener: TurnListener | undefined;
  #lastUsedAt: number;
  #counted: LimitCounters = { memoryKills: 0, refusedProcesses: 0 };

  private constructor(parts: HotContainerParts) {
    this.#parts = parts;
    this.fingerprint = parts.fingerprint;
    this.#lastUsedAt = parts.now();
    this.#ready.promise.catch(() => undefined);
  }

  /** Opens the mailbox, starts the container, waits until its agent is ready and the attestation found nothing. */
  static async start(
    parts: HotContainerParts,
    launch: () => Promise<RunningContainer>,
    readyTimeoutMs: number,
  ): Promise<HotContainer> {
    const container = new HotContainer(parts);
    try {
      await container.#openMailbox();
      await container.#watch(await launch());
      const probe = await container.#waitUntilReady(readyTimeoutMs);
      await container.#attest(probe);
      container.#state = "idle";
      return container;
    } catch (error) {
      await container.close(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Takes over a container that an earlier life of the host had left idle. */
  static async adopt(parts: HotContainerParts, running: RunningContainer): Promise<HotContainer> {
    const container = new HotContainer(parts);
    try {
      await container.#watch(running);
      await container.#attest(undefined);
      // What it hit in an earlier life of the host has been told.
      container.#counted = (await running.limitCounters().catch(() => undefined)) ?? container.#counted;
      await container.#openMailbox();
      container.#state = "idle";
      return container;
    } catch (error) {
      await container.close(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  get state(): HotContainerView["state"] {
    return this.#state;
  }

  get lastUsedAt(): number {
    return this.#lastUsedAt;
  }

  view(): HotContainerView {
    return {
      session: this.#parts.session,
      group: this.#parts.group,
      generation: this.#running?.generation ?? 0,
      container: this.#running?.id ?? "",
      name: this.#running?.name ?? "",
      state: this.#state,
      lastUsedAt: this.#lastUsedAt,
    };
  }

  /** Gives the container to a turn. */
  occupy(listener: TurnListener): void {
    if (this.#state !== "idle") throw new AppError("container_lost", `The container is ${this.#state}, not idle.`);
    this.#state = "busy";
    this.#listener = listener;
  }

  /** The turn is over; the container may be used again. */
  release(): void {
    this.#listener = undefined;
    this.#lastUsedAt = this.#parts.now();
    if (this.#state === "busy") this.#state = "idle";
  }

  /** Limits that it has reached since this was last asked; each is reported to `onLimit`, too. Never rejects. */
  async limitHits(): Promise<readonly LimitHit[]> {
    const now = await this.#running?.limitCounters().catch(() => undefined);
    if (now === undefined) return [];
    const before = this.#counted;
    this.#counted = now;
    const hits = hitsBetween(before, now);
    for (const hit of hits) this.#parts.onLimit(this, hit);
    return hits;
  }

  /** Sends to the agent. Does nothing once the container is closing: `onLost` tells the listener. */
  async send(payload: HostPayload): Promise<void> {
    if (this.#state === "closing") return;
    await this.#mailbox?.send(payload);
  }

  /** Ends it. Later calls wait for the first one. */
  async close(reason: string): Promise<void> {
    if (this.#state === "closing") return this.#closed.promise;
    this.#state = "closing";
    this.#ready.reject(new AppError("container_lost", `The container ended before it was ready: ${reason}`));
    this.#listener?.onLost(reason);
    this.#listener = undefined;
    this.#parts.onGone(this, reason);
    try {
      await this.#mailbox?.[Symbol.asyncDispose]();
      await this.limitHits();
      await this.#running?.remove();
      await this.#mailbox?.removeFiles();
    } catch (error) {
      this.#parts.onLog("error", `ending the container (${reason}) failed: ${String(error)}`);
    } finally {
      this.#closed.resolve();
    }
  }

  async #openMailbox(): Promise<void> {
    this.#mailbox = await this.#parts.openMailbox({
      onMessage: (message) => this.#receive(message.payload),
      onViolation: (reason) => {
        this.#parts.onLog("error", `the agent broke the mailbox protocol: ${reason}`);
        void this.close(`mailbox violation: ${reason}`);
      },
    });
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
    if (end.hit) this.#parts.onLimit(this, end.hit);
    await this.close(end.reason);
  }

  #receive(payload: AgentPayload): void {
    if (payload.type === "ready") this.#ready.resolve(payload.probe);
    else if (payload.type === "log") this.#parts.onLog(payload.level, payload.text);
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
