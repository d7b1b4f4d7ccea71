import type { LimitCounters } from "../../domain/turns/limit.ts";
import type { MountSighting } from "../../domain/sandbox/mount.ts";
import { AppError } from "../../lib/app-error.ts";
import { memoize } from "../../lib/memoize.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { ProbeReport } from "../../protocol/messages.ts";
import { attest, type ContainerEvidence } from "../attestation/attestation.ts";
import { readHostView } from "../attestation/host.ts";
import { ContainerCgroups, readLimitCounters } from "../cgroups/container-cgroups.ts";
import type { ContainerEngine, ContainerExit, CreateBody, Inspection } from "../engine/engine.ts";
import { readHeldMemoryMb } from "../cgroups/held-memory.ts";
import type { MountGrant } from "../mounts/rules.ts";
import type { MountPoint } from "../../lib/files/mount-points.ts";
import type { MountInspector } from "../mounts/inspector.ts";
import { recheckMount } from "../mounts/identity.ts";
import { identitiesOf, placeOf } from "./spec.ts";

export interface LaunchedOptions {
  readonly engine: ContainerEngine;
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  readonly uid: number;
  readonly mailFolder: string;
  readonly body: CreateBody;
  readonly granted: readonly MountGrant[];
  /** Returns how the volumes of mounts with review differ from what they were made as, a sentence each. */
  readonly reviewFaults?: (() => Promise<readonly string[]>) | undefined;
  /** Mount rules; no mounts without them. */
  readonly inspector?: MountInspector | undefined;
}

/** The container as seen by the engine and the kernel. */
interface OutsideView {
  readonly inspection: Inspection;
  readonly cgroups: ContainerCgroups | undefined;
  readonly hostView: ContainerEvidence["hostView"];
  readonly folders: ContainerEvidence["folders"];
  /** Folders that are not what they were when they were judged. */
  readonly changed: readonly string[];
}

/** Until the engine is asked again after it went away while it was watching the container. */
const watchRetryMs = 2_000;

/** A container that runs, with what it was made from. Its end is watched from the beginning until `remove`. */
export class LaunchedContainer {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  /** The uid that the agent's files carry. */
  readonly uid: number;
  /** The folder of its mailbox on the host. */
  readonly mailFolder: string;
  /** The container's end. Never rejects: a container unknown to the engine has ended, too. */
  readonly exited: Promise<ContainerExit>;
  readonly #options: LaunchedOptions;
  readonly #watching = new AbortController();
  readonly #remove: () => Promise<void>;
  #cgroups: ContainerCgroups | undefined;
  #isPaused = false;
  #outside: Promise<OutsideView> | undefined;

  constructor(options: LaunchedOptions) {
    this.#options = options;
    this.id = options.id;
    this.name = options.name;
    this.generation = options.generation;
    this.uid = options.uid;
    this.mailFolder = options.mailFolder;
    this.#remove = memoize(() => options.engine.remove(options.id).finally(() => this.#watching.abort()));
    this.exited = this.#watch();
  }

  /**
   * Returns each difference between the running and the requested container as a sentence; see `attest`. A re-adopted
   * container is judged without a report, as it can no longer be asked. Throws `container_lost` when it no longer runs,
   * which says nothing about it.
   */
  async attest(probe: ProbeReport | undefined): Promise<readonly string[]> {
    const { body } = this.#options;
    const { inspection, cgroups, hostView, changed, folders } = await this.lookFromOutside();
    this.#cgroups = cgroups;
    this.#isPaused = stateOf(inspection)["Status"] === "paused";
    const surprises = [...changed, ...attest({ inspection, body, probe, hostView, folders })];
    if (surprises.length > 0 && !(await this.#stillRuns())) throw endedEarly(this.name);
    return surprises;
  }

  /** Starts the outside part of the attestation while the agent is still loading. */
  lookFromOutside(): Promise<OutsideView> {
    const looking = (this.#outside ??= this.#look());
    // Whoever attests hears of a failure; until then nobody does.
    looking.catch(() => undefined);
    return looking;
  }

  async #look(): Promise<OutsideView> {
    const { engine, id, granted, reviewFaults } = this.#options;
    const inspection = await engine.inspect(id);
    if (inspection === undefined || !isRunning(inspection)) throw endedEarly(this.name);
    const reviewed = granted.filter(({ verdict }) => verdict === "review");
    const folders = identitiesOf(granted.filter((mount) => !reviewed.includes(mount)));
    const pid = pidOf(inspection);
    const cgroups = await ContainerCgroups.find(pid, id);
    const [hostView, faults, ...changes] = await Promise.all([
      readHostView({ pid, cgroups, targets: folders.map((folder) => folder.target) }),
      reviewFaults?.() ?? [],
      ...granted.map((mount) => recheckMount(mount)),
    ]);
    const joined = hostView === undefined ? [] : reviewed.flatMap((mount) => compareJoined(mount, hostView.mounts));
    const changed = [...changes.filter((change) => change !== undefined), ...faults, ...joined];
    return { inspection, cgroups, hostView, folders, changed };
  }

  /** Enforced limits so far; undefined before the attestation, or when the host cannot read them. */
  async limitCounters(): Promise<LimitCounters | undefined> {
    return this.#cgroups && readLimitCounters(this.#cgroups);
  }

  /** Megabytes that it holds; undefined before the attestation, and where the host cannot look. */
  async heldMemoryMb(): Promise<number | undefined> {
    return this.#cgroups && readHeldMemoryMb(this.#cgroups);
  }

  /** True when it has mounts that can be inspected. */
  get hasMounts(): boolean {
    return this.#options.inspector !== undefined;
  }

  /** Inspects the present contents of its mounts, and removes setuid and setgid bits from the agent's files. */
  async lookIntoMounts(signal: AbortSignal): Promise<MountSighting> {
    if (this.#options.inspector === undefined) return nothingSeen;
    const { inspection } = await this.lookFromOutside();
    // A clock that cannot be read: all that is there counts as touched.
    const startedAt = Date.parse(String(stateOf(inspection)["StartedAt"])) || 0;
    return this.#options.inspector.look(startedAt / 1000, signal);
  }

  /** True when it was frozen during attestation. */
  isFrozen(): boolean {
    return this.#isPaused;
  }

  /** Takes all processor time from it until `thaw`. Doing either twice does no harm. */
  async freeze(): Promise<void> {
    await this.#options.engine.pause(this.id);
  }

  async thaw(): Promise<void> {
    await this.#options.engine.unpause(this.id);
  }

  /** Ends and removes it; later calls wait for the first one, or try again if that has failed. */
  async remove(): Promise<void> {
    await this.#remove();
  }

  /** One that died while it was looked at looks strange from some sides. */
  async #stillRuns(): Promise<boolean> {
    const inspection = await this.#options.engine.inspect(this.id);
    return inspection !== undefined && isRunning(inspection);
  }

  async #watch(): Promise<ContainerExit> {
    const { engine } = this.#options;
    const { signal } = this.#watching;
    for (;;) {
      try {
        return await engine.waitForExit(this.id, signal);
      } catch {
        if (signal.aborted) return removedExit;
      }
      await sleep(watchRetryMs, signal);
      const state = await engine.inspect(this.id).catch(() => "engine-away" as const);
      if (state === undefined) return removedExit;
      if (state !== "engine-away" && !isRunning(state)) return exitOf(state);
    }
  }
}

const nothingSeen: MountSighting = {
  refused: undefined,
  setIdFiles: [],
  executionPoints: new Map(),
  secrets: [],
};

function endedEarly(name: string): AppError {
  return new AppError("container_lost", `Container ${name} ended before it could be inspected.`);
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

/** Compares the kernel's own list with the two folders that a mount with review joins. */
function compareJoined(mount: MountGrant, seen: readonly MountPoint[]): string[] {
  const found = seen.findLast(({ target }) => target === placeOf(mount));
  const wanted = (mount.review?.options["o"] ?? "").split(",").filter((option) => /^(?:lower|upper)dir=/.test(option));
  // A list of mounts writes blanks like this.
  const shown = found?.superOptions.map((option) => option.replaceAll(String.raw`\040`, " ")) ?? [];
  const isJoined = found?.type === "overlay" && wanted.length === 2 && wanted.every((option) => shown.includes(option));
  return isJoined ? [] : [`The mount ${mount.target} does not join the folders that it was made of.`];
}
