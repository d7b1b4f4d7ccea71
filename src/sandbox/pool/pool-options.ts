import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { HotContainerView, Session } from "../../domain/turns/session.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Mailbox, MailboxEvents, TurnListener } from "./hot-container.ts";
import type { Launcher } from "./launch.ts";
import type { MountWatch } from "./mount-watch.ts";

/** Mailbox to open for a container's life. */
export interface MailboxRequest extends MailboxEvents {
  readonly session: string;
  readonly group: string;
  readonly generation: number;
  readonly firstId: number;
  readonly containerUid: number;
}

/** A life of a session's container. */
export interface ContainerRun {
  readonly session: string;
  readonly group: string;
  readonly generation: number;
}

/** Owner of a found container; `busy`: a turn was using it when the host ended. */
export interface Owner {
  readonly group: Group;
  readonly session: Session;
  readonly busy: boolean;
}
export type FindOwner = (session: string) => Promise<Owner | undefined>;

/** The pool, as what watches its containers sees it. */
export interface WatchedPool {
  list(): HotContainerView[];
  isHeld(session: string): boolean;
  stop(session: string, reason: string): Promise<boolean>;
}

/** The quota of groups' folders. */
export interface Workspaces extends AsyncDisposable {
  /** Throws when a group may not have a container now. */
  admit(group: string): Promise<void>;
  released(group: string): void;
}

export interface PoolOptions {
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
  readonly publish: Publish<
    | "container.attested"
    | "container.adopted"
    | "container.frozen"
    | "container.thawed"
    | "container.refused"
    | "container.stopped"
    | "container.removed"
    | "limit.reached"
  >;
  /** Sends a notice of the host to the group's chat. */
  readonly notify: (group: Group, text: string) => Promise<void>;
  /** Opens the watch over the quota of groups' folders, which ends containers of this pool. */
  readonly watchWorkspaces: (pool: WatchedPool) => Workspaces;
  /** Watch over the containers' mounts. */
  readonly mounts: Pick<MountWatch, "begin" | "released" | "refusalOf">;
  readonly limits: {
    /** Maximum hot containers; limited by memory only when undefined. */
    readonly maxHot: number | undefined;
    readonly idleStopMs: number;
    /** Until an idle container is frozen; 0: never. */
    readonly freezeMs: number;
    readonly readyTimeoutMs: number;
    /** With less memory than this, idle containers are ended. */
    readonly memoryReserveMb: number;
  };
  /** Free megabytes; undefined when unknown. */
  readonly availableMemoryMb: () => Promise<number | undefined>;
  readonly now: () => number;
  readonly logger: Logger;
}

/** The settings of the configuration that bound the pool. */
interface SessionSettings {
  readonly maxHot?: number | undefined;
  readonly idleStopMinutes: number;
  readonly freezeSeconds: number;
  readonly memoryReserveMb: number;
  readonly silenceTimeoutSeconds: number;
}

/** Returns the bounds that follow from the settings. */
export function poolLimits(settings: SessionSettings): PoolOptions["limits"] {
  const { maxHot, idleStopMinutes, freezeSeconds, memoryReserveMb, silenceTimeoutSeconds } = settings;
  return {
    maxHot,
    idleStopMs: idleStopMinutes * 60_000,
    freezeMs: freezeSeconds * 1000,
    memoryReserveMb,
    readyTimeoutMs: silenceTimeoutSeconds * 1000,
  };
}

/** A container that is being started. */
export interface StartingContainer {
  /** Known as soon as it has one. */
  generation?: number;
  /** Settled when it runs, or has failed to. */
  readonly over: PromiseWithResolvers<void>;
}

/** A container that a turn has asked for. */
export interface AskedContainer {
  readonly listener: TurnListener;
  readonly starting: StartingContainer;
}
