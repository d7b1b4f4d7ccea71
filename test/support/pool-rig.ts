import { pino } from "pino";

import type { Group } from "../../src/domain/chats/group.ts";
import type { NewEvent } from "../../src/domain/events/event.ts";
import { mainSessionKey, type Session } from "../../src/domain/turns/session.ts";
import type { ContainerExit } from "../../src/sandbox/engine/engine.ts";
import type { TurnListener } from "../../src/sandbox/pool/hot-container.ts";
import type { FoundContainer, Launcher, RunningContainer } from "../../src/sandbox/pool/launch.ts";
import { SessionPool } from "../../src/sandbox/pool/pool.ts";
import type { PoolOptions } from "../../src/sandbox/pool/pool-options.ts";
import { hotContainerOptions, runningContainer } from "./container-parts.ts";
import { openTestStore } from "./open-test-store.ts";
import { someGroup } from "./some-group.ts";

/** A container that the launcher of the rig has started. */
export interface StartedContainer {
  readonly session: string;
  readonly generation: number;
  readonly state: () => "running" | "frozen" | "removed";
  /** Ends it, as if its main process had. */
  readonly die: () => void;
}

/** Settings that a test may change while the pool works. */
export interface PoolSettings {
  maxHot: number | undefined;
  idleStopMs: number;
  freezeMs: number;
  /** Containers of another fingerprint are out of date. */
  fingerprint: string;
  /** Returns why a group gets no container now. */
  refuse: (group: string) => Error | undefined;
  /** Returns why the mounts of a session end its container. */
  mountFault: (session: string) => string | undefined;
  /** Containers that an earlier host has left. */
  left: readonly FoundContainer[];
  /** Called when a turn wants a container; one is looked for when this has resolved. */
  beforeAsked: () => Promise<void>;
  /** Called when a container is asked for; it runs when this has resolved. */
  beforeRun: () => Promise<void>;
}

const day = 86_400_000;

/** A pool of containers that run nowhere, with agents that are ready at once, and sessions in a real store. */
export async function openPoolRig(wanted: Partial<PoolSettings> = {}) {
  const home = await openTestStore();
  const { sessions } = home.store;
  const settings: PoolSettings = {
    maxHot: undefined,
    idleStopMs: day,
    freezeMs: 0,
    fingerprint: "one",
    refuse: () => undefined,
    mountFault: () => undefined,
    left: [],
    beforeAsked: async () => undefined,
    beforeRun: async () => undefined,
    ...wanted,
  };
  const started: StartedContainer[] = [];
  const events: NewEvent[] = [];
  const time = { now: 0 };
  const launcher = launcherOf(settings, started);
  const pool = new SessionPool(optionsOf(settings, { launcher, sessions, events, time }));
  return {
    pool,
    settings,
    started,
    events,
    time,
    sessions,
    /** Has the group's session do a turn that lasts until it is released. */
    begin: async (name: string, listener: Partial<TurnListener> = {}) => {
      const group = groupOf(name);
      const session = await sessions.open(mainSessionKey(group), name);
      time.now += 1;
      await pool.acquire(group, session, {
        turn: "t",
        onMessage: () => undefined,
        onLost: () => undefined,
        ...listener,
      });
      return session.id;
    },
    openSession: (name: string) => sessions.open(mainSessionKey(groupOf(name)), name),
    /** Groups whose containers are hot. */
    hot: () => pool.list().map(({ group }) => group),
    [Symbol.asyncDispose]: async () => {
      await pool[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** A group with a chat for itself. */
export function groupOf(name: string): Group {
  return someGroup(name, { channel: "terminal", chat: name });
}

/** A container that an earlier host has left for this session; `log` gets what becomes of it. */
export function leftContainer(
  { id, generation }: Pick<Session, "generation" | "id">,
  log: string[],
  more: Partial<FoundContainer> = {},
): FoundContainer {
  const name = `left-${id}`;
  return {
    name,
    session: id,
    generation,
    running: true,
    adopt: async () => {
      log.push("adopted");
      return runningContainer({ id: name, name, generation, remove: async () => undefined });
    },
    remove: async () => void log.push("removed"),
    ...more,
  };
}

function launcherOf(settings: PoolSettings, started: StartedContainer[]): Launcher {
  return {
    fingerprint: async () => {
      await settings.beforeAsked();
      return settings.fingerprint;
    },
    plan: async (_group, session) => ({
      uid: 1,
      warnings: [],
      start: async (generation) => {
        await settings.beforeRun();
        const { container, running } = startedContainer(session.id, generation);
        started.push(container);
        return running;
      },
    }),
    found: async () => settings.left,
  };
}

function startedContainer(session: string, generation: number) {
  const exited = Promise.withResolvers<ContainerExit>();
  let state: ReturnType<StartedContainer["state"]> = "running";
  const container: StartedContainer = {
    session,
    generation,
    state: () => state,
    die: () => exited.resolve({ code: 137, oomKilled: true }),
  };
  const running: RunningContainer = runningContainer({
    id: `${session}-${generation}`,
    name: `crabpot-${generation}`,
    generation,
    exited: exited.promise,
    isFrozen: () => state === "frozen",
    freeze: async () => void (state = "frozen"),
    thaw: async () => void (state = "running"),
    remove: async () => {
      state = "removed";
      exited.resolve({ code: 0, oomKilled: false });
    },
  });
  return { container, running };
}

function optionsOf(
  settings: PoolSettings,
  rig: Pick<PoolOptions, "launcher" | "sessions"> & {
    readonly events: NewEvent[];
    readonly time: { readonly now: number };
  },
): PoolOptions {
  return {
    launcher: rig.launcher,
    sessions: rig.sessions,
    openMailbox: hotContainerOptions({}).openMailbox,
    mailFolder: () => "",
    containerLog: () => undefined,
    publish: async (event) => void rig.events.push(event),
    notify: async () => undefined,
    watchWorkspaces: () => ({
      admit: async (group) => {
        const fault = settings.refuse(group);
        if (fault) throw fault;
      },
      released: () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    }),
    mounts: {
      begin: () => undefined,
      released: () => undefined,
      refusalOf: async (session) => settings.mountFault(session),
    },
    get limits() {
      const { maxHot, idleStopMs, freezeMs } = settings;
      return { maxHot, idleStopMs, freezeMs, readyTimeoutMs: day, memoryReserveMb: 0 };
    },
    availableMemoryMb: async () => undefined,
    now: () => rig.time.now,
    logger: pino({ level: "silent" }),
  };
}
