import type { AbilityServices } from "../abilities/catalog.ts";
import { configuredGroups, paceLimits } from "../config/configured/groups.ts";
import { ensureGlobalFolder, ensureProfilesFolder } from "../config/home/group-folders.ts";
import { WorkFolders } from "../config/home/work-folder.ts";
import { networkOfServer } from "../config/configured/mcp.ts";
import type { GroupNotices } from "../delivery/group-notices.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { memoize } from "../lib/memoize.ts";
import { availableMemoryMb } from "../lib/process/available-memory.ts";
import { hostUid } from "../lib/process/host-uid.ts";
import { type EgressOverrides, EgressProxies } from "../sandbox/egress/egress-proxies.ts";
import { publishEgress } from "../sandbox/egress/publish-egress.ts";
import { openEngine } from "../sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import { LateEngine } from "../sandbox/engine/late-engine.ts";
import { prepareEngine } from "../sandbox/engine/prepare-engine.ts";
import { Images } from "../sandbox/images/images.ts";
import { ImageWait } from "../sandbox/images/image-wait.ts";
import { ContainerLauncher } from "../sandbox/launch/launcher.ts";
import { mailFolderOf, openMailbox } from "../sandbox/mailbox/open-mailbox.ts";
import { MountWatch } from "../sandbox/pool/mount-watch.ts";
import { SessionPool } from "../sandbox/pool/pool.ts";
import { sandboxSize } from "../sandbox/profile/profile.ts";
import { MountLayers } from "../sandbox/review/mount-layers.ts";
import { poolLimits } from "../sandbox/pool/pool-options.ts";
import { watchSessions } from "../sandbox/pool/session-watch.ts";
import { createServerContainers } from "../sandbox/servers/server-containers.ts";
import type { Servers } from "../sandbox/servers/servers.ts";
import { Instructions } from "../sandbox/workspace/instructions.ts";
import { openScratchFolder } from "../sandbox/workspace/scratch-folder.ts";
import type { Plugins } from "../plugins/plugins.ts";
import { TurnPace } from "../intake/limits/turn-pace.ts";
import type { Group } from "../domain/chats/group.ts";
import { ActiveTurns } from "../turns/active-turns.ts";
import { SideSessions } from "../work/sessions/side-sessions.ts";
import type { HostDelivery } from "./channels.ts";
import type { AppContext, HostSignals } from "./context.ts";

export interface Containers {
  readonly engine: ContainerEngine;
  /** Resolves once the engine has answered, may be used, and has the agent's image; rejects with what is missing. */
  readonly prepare: () => Promise<void>;
  readonly images: Images;
  readonly imageWait: ImageWait;
  readonly launcher: ContainerLauncher;
  readonly pool: SessionPool;
  readonly mounts: MountWatch;
  readonly instructions: Instructions;
  /** Changes of agents in mounts with review. */
  readonly reviewLayers: MountLayers;
  /** Containers of MCP servers and plugins. */
  readonly servers: Servers;
}

interface ContainerOptions {
  readonly engine: ContainerEngine;
  readonly notices: GroupNotices;
  readonly tell: TellOperator;
  readonly groups: GroupRegistry;
  readonly skills: Pick<AbilityServices["skills"], "skillsIn">;
  readonly egress?: EgressOverrides | undefined;
  readonly plugins?: Pick<Plugins, "networkOf"> | undefined;
}

/** The container engine, which is looked for when it is first asked: it may be away for now. */
export function openEngineLater(
  { environment, interception }: AppContext,
  stack: AsyncDisposableStack,
): ContainerEngine {
  const surroundings = { env: environment.variables, homeFolder: environment.userHome };
  return interception.engine(stack.use(new LateEngine(() => openEngine(surroundings))));
}

/** Everything that makes containers. Does not contact the engine before `prepare`. */
export async function openContainers(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: ContainerOptions,
): Promise<Containers> {
  const { environment, home, config, live, store, clock, logger, publish } = context;
  const { engine, groups, skills, tell, notices } = options;
  const { paths, instance } = home;
  const { checkout } = environment;
  await ensureGlobalFolder(paths.global, checkout);
  await ensureProfilesFolder(paths.agents, checkout);
  const base = memoize(() =>
    prepareEngine(engine, { runtime: () => config.sandbox.runtime, checkout, publish, logger }),
  );
  const egress = stack.use(createEgress(context, options));
  const instructions = createInstructions(context, tell);
  const images = stack.use(
    new Images({
      instance,
      engine,
      base,
      surroundings: { env: environment.variables, homeFolder: environment.userHome },
      groups: () => groups.list().map(({ name }) => name),
      packagesOf: (name) => live.groupOf({ name }).packages,
      publish,
      clock,
      logger,
    }),
  );
  const folders = new WorkFolders({ groups: paths.groups, checkout }, store.groups);
  const shared = { engine, images, base, config, groups, instance, logger };
  const reviewLayers = new MountLayers({
    ...shared,
    folder: paths.reviews,
    homeFolder: environment.userHome,
    pool: () => pool,
  });
  const parts = { engine, images, egress, instructions, skills, folders, reviewLayers };
  const launcher: ContainerLauncher = createLauncher(context, parts, (name) => servers.has(name));
  const servers: Servers = openServers(context, stack, parts, { base, launcher });
  const mounts = stack.use(
    new MountWatch({
      publish,
      keepExecutionPoints: (of, changes) => store.executionPoints.add(of, changes, clock.now()),
      now: () => clock.monotonic(),
      logger,
    }),
  );
  const pool: SessionPool = stack.use(createPool(context, { launcher, mounts, notices }));
  images.changed.on(() => pool.endOutdated((name) => groups.byName(name)));
  const prepare = async (): Promise<void> => {
    const { id } = await base();
    await images.review();
    // Nothing waits for it.
    void reviewLayers.removeUnneeded();
    logger.debug({ image: id, maxHot: config.sessions.maxHot }, "containers can be started");
  };
  const imageWait = new ImageWait(images, (group, text) => notices.send(group, text));
  return { engine, prepare, images, imageWait, launcher, pool, mounts, instructions, reviewLayers, servers };
}

function createEgress(context: AppContext, { egress, plugins }: ContainerOptions): EgressProxies {
  const { config, live, home, logger, clock, store, publish } = context;
  return new EgressProxies({
    folder: home.paths.egress,
    keyFolder: home.paths.keys,
    networkOf: (owner) => networkOfServer(config, owner, plugins) ?? live.groupOf({ name: owner }).network,
    publish: publishEgress(store.origins, () => clock.now(), publish),
    logger,
    get nameservers() {
      return config.sandbox.nameservers;
    },
    now: () => clock.now(),
    overrides: egress,
  });
}

function createInstructions({ home, store, publish, clock, logger }: AppContext, tell: TellOperator): Instructions {
  return new Instructions({
    folders: { groups: home.paths.groups, copies: home.paths.instructions },
    hostUid: hostUid(),
    store: store.groups,
    changes: store.events,
    tell: (text) => tell({ text }),
    publish,
    clock,
    logger,
  });
}

interface LaunchParts extends Pick<Containers, "engine" | "images" | "instructions" | "reviewLayers"> {
  readonly egress: EgressProxies;
  readonly skills: ContainerOptions["skills"];
  readonly folders: WorkFolders;
}

function createLauncher(
  context: AppContext,
  { engine, images, egress, instructions, skills, folders, reviewLayers }: LaunchParts,
  isOther: (name: string) => boolean,
): ContainerLauncher {
  const { config, home, environment, store, logs, publish } = context;
  return new ContainerLauncher({
    engine,
    image: (group) => images.imageOf(group),
    instance: home.instance,
    get sandbox() {
      return sandboxSize(config.sandbox);
    },
    mountContext: {
      homeFolder: environment.userHome,
      crabpotHome: home.paths.root,
      checkout: environment.checkout,
      allowlistPath: home.paths.mounts,
      hostUid: hostUid(),
    },
    get groups() {
      return configuredGroups(config);
    },
    groupFolder: (group, user) => folders.open(group, user),
    scratchFolder: (session, user) => openScratchFolder(home.paths.sessions, session, user),
    protectedFiles: (group) => instructions.protectedFiles(group),
    globalFolder: home.paths.global,
    skillsOf: (group, session) => skills.skillsIn({ group, session }),
    openEgress: (group) => egress.open(group),
    egressOf: (group) => egress.kindOf(group),
    ordinal: (group) => store.groups.ordinal(group),
    output: (session, group) => logs.of({ id: session, group }).outputOf("container"),
    isOther,
    reviews: reviewLayers,
    publish,
  });
}

function openServers(
  context: AppContext,
  stack: AsyncDisposableStack,
  { engine, images, egress, instructions, folders }: Omit<LaunchParts, "reviewLayers">,
  { base, launcher }: { readonly base: () => ReturnType<typeof prepareEngine>; readonly launcher: ContainerLauncher },
): Servers {
  const { config, home, store, space, publish, logger } = context;
  return createServerContainers(
    {
      folder: home.paths.mcp,
      home: home.paths.root,
      instance: home.instance,
      engine,
      sandbox: () => sandboxSize(config.sandbox),
      quotaBytes: () => space.quotaBytes,
      imageOf: (group) => (group === undefined ? base() : images.imageOf(group)),
      groups: store.groups,
      openWorkFolder: folders.open.bind(folders),
      egress,
      instructions,
      launcher,
      publish,
      logger,
    },
    stack,
  );
}

function createPool(
  context: AppContext,
  { launcher, mounts, notices }: Pick<Containers, "launcher" | "mounts"> & Pick<ContainerOptions, "notices">,
): SessionPool {
  const { config, home, store, space, logs, clock, logger, publish, interception } = context;
  const { groups, sessions } = home.paths;
  return new SessionPool({
    launcher: interception.launcher(launcher),
    sessions: store.sessions,
    mailFolder: (session, generation) => mailFolderOf(sessions, session, generation),
    openMailbox: async (request) => interception.mailbox(await openMailbox(request, { sessions, publish, logger })),
    containerLog: (session, group, level, text) => logs.of({ id: session, group }).write("agent", level, text),
    publish,
    notify: (group, text) => notices.send(group, text),
    watchWorkspaces: (pool) => watchSessions(pool, { space, groups, sessions, publish, logger }),
    mounts,
    get limits() {
      return poolLimits(config.sessions);
    },
    availableMemoryMb,
    now: () => clock.now(),
    logger,
  });
}

/** The turns under way, their pace, and sessions beside the main ones. */
export interface HostSessions {
  readonly pace: TurnPace;
  readonly activeTurns: ActiveTurns;
  readonly sideSessions: SideSessions;
}

/** Opens the record of turns under way, and the sessions beside the main ones. */
export function openSessions(
  { config, adapters, store, home, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  parts: Pick<Containers, "pool"> &
    Pick<HostDelivery, "patient"> & { readonly signals: Pick<HostSignals, "workAdded"> },
): HostSessions {
  const { pool, patient, signals } = parts;
  const limitsOf = (group: Pick<Group, "channel" | "name">) => paceLimits({ config, adapters }, group);
  const pace = new TurnPace({ turns: store.turns, limitsOf, clock });
  const workAdded = (): void => void signals.workAdded.emit();
  const side = { store: patient.store, workAdded, pool, folder: home.paths.sessions, clock, logger };
  return { activeTurns: new ActiveTurns(), pace, sideSessions: stack.use(new SideSessions(side)) };
}
