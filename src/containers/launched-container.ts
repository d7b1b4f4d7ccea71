import { setTimeout as delay } from "node:timers/promises";

import type { LimitCounters } from "../domain/limit.ts";
import type { ProbeReport } from "../protocol/messages.ts";
import { attest } from "./attestation.ts";
import { readHostView } from "./attestation-host.ts";
import type { ContainerEngine, ContainerExit, CreateBody, Inspection } from "./engine.ts";
import { readLimitCounters } from "./limit-counters.ts";
import type { MountGrant } from "./mount-rules.ts";
import { recheckMount } from "./mount-identity.ts";
import { containerPaths } from "../protocol/paths.ts";

export interface LaunchedParts {
  readonly engine: ContainerEngine;
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  readonly uid: number;
  readonly mailFolder: string;
  readonly body: CreateBody;
  readonly granted: readonly MountGrant[];
}

/** Until the engine is asked again after it went away while it was watching the container. */
const watchRetryMs = 2_000;

/** A container that runs, with what it was made from. Its end is watched from the beginning until `remove`. */
export class LaunchedContainer {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  readonly uid: number;
  readonly mailFolder: string;
  /** Never rejects: a container that the engine does not know any more has ended, too. */
  readonly exited: Promise<ContainerExit>;
  readonly #parts: LaunchedParts;
  readonly #watching = new AbortController();
  #removed: Promise<void> | undefined;
  #pid: number | undefined;

  constructor(parts: LaunchedParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.name = parts.name;
    this.generation = parts.generation;
    this.uid = parts.uid;
    this.mailFolder = parts.mailFolder;
    this.exited = this.#watch();
  }

  /** Every difference between what runs and what was asked for, a sentence each; see `attest`. */
  async attest(probe: ProbeReport | undefined): Promise<readonly string[]> {
    const { engine, id, body, granted } = this.#parts;
    const inspection = await engine.inspect(id);
    if (inspection === undefined) return ["The container is gone."];
    this.#pid = pidOf(inspection);
    const folders = granted.map(({ target, device, inode }) => ({
      target: `${containerPaths.extra}/${target}`,
      device,
      inode,
    }));
    const [hostView, ...changes] = await Promise.all([
      readHostView({ pid: pidOf(inspection), containerId: id, targets: folders.map((folder) => folder.target) }),
      ...granted.map((mount) => recheckMount(mount)),
    ]);
    const changed = changes.filter((change) => change !== undefined);
    return [...changed, ...attest({ inspection, body, probe, hostView, folders })];
  }

  /** What the kernel has enforced so far; undefined before the attestation, and where the host cannot look. */
  async limitCounters(): Promise<LimitCounters | undefined> {
    return this.#pid === undefined ? undefined : readLimitCounters(this.#pid, this.id);
  }

  /** Ends and removes it; later calls wait for the first one. */
  async remove(): Promise<void> {
    this.#removed ??= this.#parts.engine.remove(this.id).finally(() => this.#watching.abort());
    await this.#removed;
  }

  async #watch(): Promise<ContainerExit> {
    const { engine } = this.#parts;
    const { signal } = this.#watching;
    for (;;) {
      try {
        return await engine.waitForExit(this.id, signal);
      } catch {
        if (signal.aborted) return removedExit;
      }
      await delay(watchRetryMs, undefined, { signal }).catch(() => undefined);
      const state = await engine.inspect(this.id).catch(() => "engine-away" as const);
      if (state === undefined) return removedExit;
      if (state !== "engine-away" && !isRunning(state)) return exitOf(state);
    }
  }
}

const removedExit: ContainerExit = { code: 137, oomKilled: false };

function stateOf(inspection: Inspection): Readonly<Record<string, unknown>> {
  return (inspection["State"] ?? {}) as Readonly<Record<string, unknown>>;
}

function pidOf(inspection: Inspection): number {
  return Number(stateOf(inspection)["Pid"] ?? 0);
}

function isRunning(inspection: Inspection): boolean {
  return ["running", "paused"].includes(String(stateOf(inspection)["Status"]));
}

function exitOf(inspection: Inspection): ContainerExit {
  const state = stateOf(inspection);
  return { code: Number(state["ExitCode"] ?? 137), oomKilled: state["OOMKilled"] === true };
}
