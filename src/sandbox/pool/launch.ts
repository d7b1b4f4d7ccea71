import type { Group } from "../../domain/chats/group.ts";
import type { LaunchedContainer } from "../launch/launched-container.ts";
import type { Session } from "../../domain/turns/session.ts";

/** A container that runs for a session, as the pool sees it. */
export type RunningContainer = Omit<LaunchedContainer, "lookFromOutside">;

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
