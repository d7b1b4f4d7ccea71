import type { ContainerExit } from "../engine/engine.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { LimitCounters } from "../../domain/turns/limit.ts";
import type { MountSighting } from "../../domain/sandbox/mount.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { ProbeReport } from "../../protocol/messages.ts";

/** A container that runs for a session, as the pool sees it. */
export interface RunningContainer {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  /** The uid that the agent's files carry. */
  readonly uid: number;
  /** The folder of its mailbox on the host. */
  readonly mailFolder: string;
  /** Resolves when it has ended, for whatever reason; never rejects. */
  readonly exited: Promise<ContainerExit>;
  /**
   * Compares the running container with the requested one, from outside and (with a report) from inside. Empty when
   * equal. A re-adopted container is judged without a report, as it can no longer be asked.
   */
  attest(probe: ProbeReport | undefined): Promise<readonly string[]>;
  /** Number of times that each limit was enforced; undefined when the host cannot read it. */
  limitCounters(): Promise<LimitCounters | undefined>;
  /** Megabytes that would be free without it; undefined where the host cannot look. */
  heldMemoryMb(): Promise<number | undefined>;
  /** True when it has mounts. */
  readonly hasMounts: boolean;
  /** Inspects the mounts, and removes setuid and setgid bits from the agent's files. */
  lookIntoMounts(signal: AbortSignal): Promise<MountSighting>;
  /** True when it was frozen during attestation. */
  isFrozen(): boolean;
  /** Takes all processor time from it until `thaw`. Doing either twice does no harm. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Ends and removes it, frozen or not. Idempotent. */
  remove(): Promise<void>;
}

/** A container found at start that carries this home's label. */
export interface FoundContainer {
  readonly name: string;
  readonly session: string;
  readonly generation: number;
  readonly running: boolean;
  /** Takes it over if it is what would be started now; otherwise says why not. */
  adopt(group: Group, session: Session, mailFolder: string): Promise<RunningContainer | string>;
  remove(): Promise<void>;
}

/** A container that could be started for a session now. */
export interface LaunchPlan {
  readonly uid: number;
  /** Warnings about its mounts, a sentence each: denied ones, and files that look like secrets. */
  readonly warnings: readonly string[];
  /** Creates and starts it. Nothing is left behind when it fails. */
  start(generation: number, mailFolder: string): Promise<RunningContainer>;
}

/** Makes containers for sessions; the only way to get one. */
export interface Launcher {
  /**
   * Changes when anything changes that a container of this group is made from for this session: mounts, allowlist,
   * limits, image. Cheap.
   */
  fingerprint(group: Group, session: Pick<Session, "id" | "kind">): Promise<string>;
  plan(group: Group, session: Session): Promise<LaunchPlan>;
  /** Containers of this home that exist already. */
  found(): Promise<readonly FoundContainer[]>;
}
