import { Registry } from "prom-client";

import type { HostConsole } from "../channels/define-channel.ts";
import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import type { ServedGroups } from "../config/serving/served-groups.ts";
import { reviewMounts } from "../sandbox/launch/mount-review.ts";
import { paceLimits } from "../config/configured/groups.ts";
import { startControlServer } from "../surfaces/control/server.ts";
import { createAlert, type TellOperator } from "../delivery/operator-notices.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { type Readiness, readinessOf } from "../surfaces/http/health.ts";
import type { ChatBook } from "../intake/chats/chat-book.ts";
import { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { TurnPace } from "../intake/limits/turn-pace.ts";
import { Signal } from "../lib/signal.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { countEvents } from "../records/metrics/count-events.ts";
import { measureEventLoop } from "../records/metrics/event-loop.ts";
import { addGauges, createMetrics } from "../records/metrics/metrics.ts";
import type { OperationNeeds } from "../surfaces/operations.ts";
import type { Group } from "../domain/chats/group.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { RetryingStore } from "../stores/retrying-store.ts";
import { GroupTools } from "../tools/group-tools.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { AgentProfiles } from "../config/profiles/agent-profiles.ts";
import { AgentGroups } from "../config/serving/agent-groups.ts";
import type { AbilityServices } from "../abilities/catalog.ts";
import type { RunningAbilities } from "../abilities/start-abilities.ts";
import { type ChangedTools, startFirstAbilities, startOtherAbilities } from "./abilities.ts";
import { type Containers, openContainers, openEngineLater } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { startChannels } from "../intake/start-channels.ts";
import { buildEntrances, createProgress, createSigns, type Entrances, openDelivery } from "./channels.ts";
import type { EngineWait } from "../sandbox/engine/engine-wait.ts";
import { adoptWhenReady } from "../work/sessions/adopt-containers.ts";
import type { HostInProcess } from "../surfaces/cli/host-process.ts";
import { type FoundationOptions, openFoundation } from "./foundation.ts";
import { openChats, openIntakeOf } from "./chats.ts";
import type { GroupCommands } from "../surfaces/chat/group-commands.ts";
import { openWork, type WorkOptions, type WorkQueue } from "../work/queue/open-work.ts";
import { settleAbsence, wakeUnfinished } from "../work/queue/resume-work.ts";
import { SideSessions } from "../work/sessions/side-sessions.ts";
import type { CatchUp } from "../turns/catch-up.ts";
import type { Compactions } from "../turns/compaction/compactions.ts";
import { ActiveTurns } from "../turns/active-turns.ts";
import type { SessionPool } from "../sandbox/pool/pool.ts";
import { operationNeeds } from "./operations.ts";
import { openRetention } from "./storage.ts";
import { openGroups, openSettings, watchConfig } from "./settings.ts";
import { attachPlugins } from "../plugins/attach-plugins.ts";
import type { QueuedSession, SessionQueue } from "../work/queue/session-queue.ts";
import { createConfiguredModels, openProviderSet, openTurns } from "./turns.ts";

export interface HostOptions extends FoundationOptions {
  /** Console of the person who started the host; undefined: none. */
  readonly console: HostConsole | undefined;
  /** Installed plugins; closed by whoever opened them. */
  readonly plugins?: Plugins | undefined;
  readonly egress?: EgressOverrides | undefined;
}

/**
 * A running host. Its `stop` takes nothing more in, ends the containers and closes everything, last the store; turns
 * that are not done when the signal aborts go on at the next start. Disposing is a stop with such a signal.
 */
export interface Host extends HostInProcess, AsyncDisposable {
  /** Reads the files of the configuration again. Never rejects. */
  reload(): Promise<void>;
}

/**
 * Builds every part in order, each from those before it, and owns them on one stack: a failure on the way undoes what
 * was built, and disposal goes backwards. The way in comes right after state and groups, so that a port or a channel
 * which cannot be had ends the start before anything else has begun; it lets nothing in before everything is there, and
 * ends first. The signal ends a start in the middle.
 */
export async function startHost(options: HostOptions, signal?: AbortSignal): Promise<Host> {
  await using stack = new AsyncDisposableStack();
  const workAdded = new Signal();
  const addWork = (): void => void workAdded.emit();
  const { context, guard, registry, engine, groups, opened, history } = await openBase(options, stack);
  const entrances = await openEntrances(context, stack, { ...options, registry, engine, guard, groups });
  const replies = openDelivery(context, stack, { guard, entrances, groups });
  const { outbox, deliver, notices, tell, retrying, patient } = replies;
  signal?.throwIfAborted();
  const { profiles, agentGroups } = openAgents(patient);
  const { abilities, skills } = await startFirstAbilities(patient, stack, { groups, profiles, tell });
  const contained = { engine, notices, tell, groups, skills };
  const containers = await openSandbox(context, stack, { ...contained, started: options, retrying, patient });
  const changeable = { started: options, groups: opened, history, containers, tell };
  const { reloader, settings, groupOperations } = openSettings(context, stack, changeable);
  signal?.throwIfAborted();
  const pace = createPace(context);
  const progress = stack.use(createProgress(context, { entrances, outbox }));
  const providers = openProviderSet(context, stack);
  const models = createConfiguredModels(patient, providers);
  const sideSessions = openSideSessions(patient, stack, { pool: containers.pool, workAdded: addWork });
  const sessionReady = new Signal<QueuedSession>();
  const toolsChanged = new Signal<ChangedTools>();
  const activeTurns = new ActiveTurns();
  const given = { groups, sideSessions, settings, models, deliver, tell, guard, entrances, skills, activeTurns };
  const needed = {
    ...containers,
    ...given,
    agentGroups,
    profiles,
    workAdded: addWork,
    sessionReady,
    toolsChanged,
    direct: context.store,
  };
  const services = { skills, ...(await startOtherAbilities(patient, abilities, needed)) };
  const hostTools = new GroupTools(new ToolRegistry(context.adapters.tools), abilities.toolSources);
  const shares = { ...containers, agentGroups, hostTools, groups, deliver, abilities, services };
  const approvals = createApprovals(context, stack, { ...shares, mcp: services.mcp, sessionReady });
  toolsChanged.on(({ tools, group }) => approvals.descriptions.ask(tools, group));
  const working = { ...shares, approvals, sideSessions, workAdded: addWork, pace, progress, guard, tell, models };
  const { runner, compactions, firstPrompt } = await openTurns(context, stack, { ...working, activeTurns, patient });
  const reached = { ...shares, activeTurns, approvals, compactions, containers, entrances, sideSessions };
  const { chats, admissions, catchUp, commands } = openChats(context, stack, { ...reached, folders: opened.folders });
  await sideSessions.resume();
  const waiting = { agentGroups, groups, containers, mayWait: !options.console };
  const engineWait = stack.use(await adoptWhenReadyOf(context, waiting));
  const scheduled = { groups, runner, compactions, commands, catchUp, engineWait, imageWait: containers.imageWait };
  const work = openWorkOf(context, stack, { ...scheduled, signs: stack.use(createSigns(groups, entrances)) });
  workAdded.on(() => work.dueWork.changed());
  sessionReady.on((queued) => work.queue.wake(queued));
  await settleAbsence(groups, commands, catchUp);
  signal?.throwIfAborted();
  const { jobs, media, memory: memories } = services;
  const taken = { admissions, approvals, catchUp, commands, entrances, groups, guard, media, memories };
  const intake = await openIntakeOf(context, stack, { ...taken, outbox, pace, progress, queue: work.queue });
  welcomeGroups(opened, { chats, catchUp, queue: work.queue });
  stack.use(watchConfig(context, reloader));
  const stopAsked = Promise.withResolvers<void>();
  const asked = { abilities: services, containers, providers, admissions, approvals, reloader, settings };
  const state = { stop: stopAsked.resolve, intake: () => guard.state(), plugins: options.plugins };
  const shared = { groups, ...work, activeTurns, pace, compactions, firstPrompt, outbox, entrances };
  const operations = operationNeeds(context, { ...shared, ...asked, groupOperations, ...state });
  await serveOperations(context, stack, { entrances, operations, webhooks: services.webhooks, groups, commands });
  stack.use(openRetention(context));
  addHostGauges(registry, context.store, { guard, containers, jobs, queue: work.queue, entrances });
  await openIntake(guard, stack, () => beginIntake(entrances, { ...intake, outbox, chats, tell }));
  await goOn(context, { groups, work, compactions, approvals, abilities, outbox });
  return running(stack.move(), { guard, entrances, work, outbox, retrying, reloader, stopAsked: stopAsked.promise });
}

/** Goes on with unfinished work and open answers, and lets abilities begin. */
async function goOn(
  { store, installed }: AppContext,
  parts: {
    readonly groups: GroupRegistry;
    readonly work: WorkQueue;
    readonly compactions: Compactions;
    readonly approvals: Pick<Approvals, "service">;
    readonly abilities: Pick<RunningAbilities, "begin">;
    readonly outbox: Outbox;
  },
): Promise<void> {
  const { groups, work, compactions, approvals, abilities, outbox } = parts;
  await wakeUnfinished(store, groups, work.queue);
  await compactions.resume();
  work.dueWork.changed();
  approvals.service.checkNow();
  abilities.begin();
  void installed.look();
  outbox.wake();
}

/** Containers, with plugins and mounts looked at; their end does not wait for trouble to pass. */
async function openSandbox(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: Parameters<typeof openContainers>[2] & {
    readonly started: HostOptions;
    readonly retrying: RetryingStore;
    readonly patient: AppContext;
  },
): Promise<Containers> {
  const { started, retrying, patient } = options;
  const { egress, plugins } = started;
  const { logger, publish } = context;
  const containers = await openContainers(patient, stack, { ...options, egress });
  stack.defer(() => retrying.giveUp());
  await Promise.all([reviewMounts(containers.launcher, logger), attachPlugins(plugins, { logger, publish })]);
  return containers;
}

/** Opens the operator's profiles of agents, and the groups as their agents have them. */
function openAgents({ live, adapters, home, store, logger }: AppContext): {
  readonly profiles: AgentProfiles;
  readonly agentGroups: AgentGroups;
} {
  const { agents, groups } = home.paths;
  const profiles = new AgentProfiles({ live, adapters, folder: agents, subAgents: store.subAgents, logger });
  return { profiles, agentGroups: new AgentGroups({ live, folder: groups, profiles }) };
}

function adoptWhenReadyOf(
  { store, home, logger }: AppContext,
  parts: {
    readonly agentGroups: AgentGroups;
    readonly groups: GroupRegistry;
    readonly containers: Pick<Containers, "pool" | "prepare">;
    readonly mayWait: boolean;
  },
): Promise<EngineWait> {
  const { agentGroups, groups, containers, mayWait } = parts;
  const { pool, prepare } = containers;
  const { turns, sessions } = store;
  const { sessions: folder } = home.paths;
  return adoptWhenReady({ turns, sessions, folder, groups, agentGroups, pool, prepare, mayWait, logger });
}

/** Looks in the chat of a group that comes for what waits there. */
function welcomeGroups(
  { arrived }: ServedGroups,
  { chats, catchUp, queue }: { readonly chats: ChatBook; readonly catchUp: CatchUp; readonly queue: SessionQueue },
): void {
  arrived.on((group) => chats.registered(group));
  arrived.on((group) => catchUp.giveUpOld(group));
  arrived.on((group) => queue.wakeGroup(group));
}

function openSideSessions(
  { store, home, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  { pool, workAdded }: { readonly pool: SessionPool; readonly workAdded: () => void },
): SideSessions {
  return stack.use(new SideSessions({ store, workAdded, pool, folder: home.paths.sessions, clock, logger }));
}

function addHostGauges(
  registry: Registry,
  store: AppContext["store"],
  parts: {
    readonly guard: IntakeGuard;
    readonly containers: Containers;
    readonly jobs: AbilityServices["jobs"];
    readonly queue: SessionQueue;
    readonly entrances: Entrances;
  },
): void {
  const { guard, containers, jobs, queue, entrances } = parts;
  addGauges(registry, {
    intakeOpen: () => guard.state().open,
    containersHot: () => containers.pool.list().length,
    groupsWaiting: () => queue.waitingGroups(),
    outbox: () => store.outbox.counts(),
    approvals: () => store.approvals.openCount(),
    jobs: () => jobs.count(),
    channels: () => entrances.channels,
  });
}

function openWorkOf(
  { config, store, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  parts: Omit<WorkOptions, "clock" | "logger" | "maxHot" | "store">,
): WorkQueue {
  return openWork(stack, { ...parts, maxHot: config.sessions.maxHot, store, clock, logger });
}

/** State, proof and the groups: everything else is made with them. */
async function openBase(options: HostOptions, stack: AsyncDisposableStack) {
  const foundation = await openFoundation(options, stack);
  const guard = stack.use(createGuard(foundation));
  const registry = new Registry();
  const metrics = createMetrics(registry);
  stack.use(measureEventLoop(registry));
  foundation.events.subscribe("metrics", countEvents(metrics));
  const context: AppContext = { ...foundation, metrics };
  return { context, guard, registry, engine: openEngineLater(context, stack), ...(await openGroups(context)) };
}

/** The way in, as far as it can be had before anything else. */
function openEntrances(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly console: HostConsole | undefined;
    readonly registry: Registry;
    readonly engine: ContainerEngine;
    readonly guard: IntakeGuard;
    readonly groups: GroupRegistry;
  },
): Promise<Entrances> {
  const { console, registry, engine, guard, groups } = options;
  const ready = (): Promise<Readiness> => readinessOf(engine, guard);
  return buildEntrances(context, stack, { console, registry, ready, groups: () => groups.list() });
}

/** Lets messages in. */
function beginIntake(
  { channels, states }: Entrances,
  { tell, ...parts }: Omit<Parameters<typeof startChannels>[1], "states" | "alert"> & { readonly tell: TellOperator },
): Promise<void> {
  return startChannels(channels, { ...parts, states, alert: createAlert(tell) });
}

/** Opens the intake, which closes before anything else ends. */
async function openIntake(guard: IntakeGuard, stack: AsyncDisposableStack, begin: () => Promise<void>): Promise<void> {
  guard.open();
  stack.defer(() => guard.close());
  await begin();
}

/** Lets programs call operations and webhooks, over HTTP and on the control socket. */
async function serveOperations(
  context: AppContext,
  stack: AsyncDisposableStack,
  {
    entrances,
    operations,
    webhooks,
    groups,
    commands,
  }: {
    readonly entrances: Entrances;
    readonly operations: OperationNeeds;
    readonly webhooks: AbilityServices["webhooks"];
    readonly groups: GroupRegistry;
    readonly commands: GroupCommands;
  },
): Promise<void> {
  entrances.gateway.serve(operations, webhooks);
  // Commands that an earlier life of the host has left may call operations.
  for (const group of groups.list()) await commands.runLeft(group);
  stack.use(await openControl(context, operations));
}

function createPace({ config, adapters, store, clock }: AppContext): TurnPace {
  const limitsOf = (group: Pick<Group, "channel" | "name">) => paceLimits({ config, adapters }, group);
  return new TurnPace({ turns: store.turns, limitsOf, clock });
}

function running(
  owned: AsyncDisposableStack,
  options: {
    readonly guard: IntakeGuard;
    readonly entrances: Entrances;
    readonly work: WorkQueue;
    readonly outbox: Outbox;
    readonly retrying: RetryingStore;
    readonly reloader: ConfigReloader;
    readonly stopAsked: Promise<void>;
  },
): Host {
  const { guard, entrances, work, outbox, retrying, reloader, stopAsked } = options;
  const giveUp = (): void => retrying.giveUp();
  const stop = async (signal: AbortSignal): Promise<void> => {
    guard.close();
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    await work.queue.stop(signal);
    signal.removeEventListener("abort", giveUp);
    if (!signal.aborted) await outbox.drain();
    await owned.disposeAsync();
  };
  return {
    inputEnded: entrances.inputEnded,
    stopAsked,
    settled: async () => {
      await work.queue.idle();
      await outbox.idle();
    },
    atWork: () => [...new Set(work.queue.snapshot().running.map(({ group }) => group))],
    reload: () => reloader.reloadSoon(),
    stop,
    [Symbol.asyncDispose]: () => stop(AbortSignal.abort(new Error("the host is stopping"))),
  };
}

function openControl({ home, logger, publish }: AppContext, needs: OperationNeeds): Promise<AsyncDisposable> {
  const onFault = (error: Error): void => logger.error({ error }, "a request on the control socket failed");
  return startControlServer({ socketPath: home.paths.controlSocket, needs, publish, onFault });
}

function createGuard({ home, config, store, publish, clock, logger }: Omit<AppContext, "metrics">): IntakeGuard {
  return new IntakeGuard({
    folder: home.paths.root,
    get reserveBytes() {
      return config.intake.reserveMb * mebibyte;
    },
    store,
    publish,
    clock,
    logger,
  });
}
