import type { Logger } from "pino";

import type { Group } from "../../domain/group.ts";
import type { LimitHit } from "../../domain/limit.ts";
import type { HotContainer as HotContainerView, Session } from "../../domain/session.ts";
import type { Mailbox, MailboxEvents } from "./hot-container.ts";
import type { Launcher } from "./launch.ts";
import type { MountWatch } from "./mount-watch.ts";

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
  /** Told to the session's log only: it comes and goes with each message. */
  froze(container: HotContainerView): void;
  thawed(container: HotContainerView, elapsedMs: number): void;
  refused(group: string, session: string, reason: string): Promise<void>;
  stopped(container: HotContainerView, reason: string): Promise<void>;
  limitHit(group: Group, container: HotContainerView, hit: LimitHit): Promise<void>;
  orphanRemoved(name: string, reason: string): Promise<void>;
}

/** Whose a container is that was found; `busy`: a turn was using it when the host ended. */
export interface Owner {
  readonly group: Group;
  readonly session: Session;
  readonly busy: boolean;
}
export type FindOwner = (session: string) => Promise<Owner | undefined>;

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
  /** What lies in the containers' mounts. */
  readonly mounts: Pick<MountWatch, "begin" | "released" | "refusalOf">;
  readonly limits: {
    /** Left out: as many as there is memory for. */
    readonly maxHot: number | undefined;
    readonly idleStopMs: number;
    /** Until an idle container is frozen; 0: never. */
    readonly freezeMs: number;
    readonly readyTimeoutMs: number;
    /** With less memory than this, idle containers are ended. */
    readonly memoryReserveMb: number;
  };
  /** Megabytes that are free; undefined where nobody can say. */
  readonly availableMemoryMb: () => Promise<number | undefined>;
  readonly now: () => number;
  readonly logger: Logger;
}
