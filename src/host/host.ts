import { Registry } from "prom-client";

import type { HostConsole } from "../channels/define-channel.ts";
import type { SettingsHistory } from "../config/changes/settings-history.ts";
import type { ServedGroups } from "../config/serving/served-groups.ts";
import { createAlert } from "../delivery/operator-notices.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { IntakeGuard } from "../intake/limits/intake-guard.ts";
import type { Intake } from "../intake/open-intake.ts";
import { startChannels } from "../intake/start-channels.ts";
import { Signal } from "../lib/signal.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { attachPlugins, prepareForPlugins } from "../plugins/attach-plugins.ts";
import type { Plugins } from "../plugins/plugins.ts";
import { countEvents } from "../records/metrics/count-events.ts";
import { measureEventLoop } from "../records/metrics/event-loop.ts";
import { addGauges, createMetrics } from "../records/metrics/metrics.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import { reviewMounts } from "../sandbox/launch/mount-review.ts";
import type { HostInProcess } from "../surfaces/cli/host-process.ts";
import { openWork, type WorkQueue } from "../work/queue/open-work.ts";
import { settleAbsence, wakeUnfinished } from "../work/queue/resume-work.ts";
import { adoptWhenReady } from "../work/sessions/adopt-containers.ts";
import { type HostAbilities, startFirstAbilities, startOtherAbilities } from "./abilities.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { buildEntrances, createSigns, type Entrances, type HostDelivery, openDelivery } from "./channels.ts";
import { type HostChats, openChats, openIntakeOf } from "./chats.ts";
import { type Containers, openContainers, openEngineLater, type HostSessions, openSessions } from "./containers.ts";
import type { AppContext, HostSignals } from "./context.ts";
import { type FoundationOptions, openFoundation } from "./foundation.ts";
import { serveOperations } from "./operations.ts";
import { type HostAgents, type HostSettings, openAgents, openGroups, openSettings, watchConfig } from "./settings.ts";
import { openRetention } from "./storage.ts";
import { type HostModels, openModels, openTurns, type Turns } from "./turns.ts";

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

/** State, proof and the groups: everything else is made with them. */
interface Base {
  readonly context: AppContext;
  readonly engine: ContainerEngine;
  readonly groups: GroupRegistry;
  readonly guard: IntakeGuard;
  readonly history: SettingsHistory;
  readonly registry: Registry;
  readonly servedGroups: ServedGroups;
  readonly signals: HostSignals;
}

/** The parts of a host that takes nothing in yet. */
interface BuiltHost extends Pick<Base, "context" | "groups" | "guard" | "registry" | "servedGroups"> {
  readonly abilities: HostAbilities;
  readonly approvals: Approvals;
  readonly chats: HostChats;
  readonly containers: Containers;
  readonly delivery: HostDelivery;
  readonly entrances: Entrances;
  readonly plugins: Plugins | undefined;
  readonly providers: HostModels["providers"];
  readonly sessions: HostSessions;
  readonly settings: HostSettings;
  readonly turns: Turns;
  readonly work: WorkQueue;
}

/**
 * Builds every part in order, each from those before it, and owns them on one stack: a failure on the way undoes what
 * was built, and disposal goes backwards. The way in comes right after state and groups, so that a port or a channel
 * which cannot be had ends the start before anything else has begun; it lets nothing in before everything is there, and
 * ends first. The signal ends a start in the middle.
 */
export async function startHost(options: HostOptions, signal?: AbortSignal): Promise<Host> {
  await using stack = new AsyncDisposableStack();
  const { console, egress, plugins } = options;
  const base = await openBase(options, stack);
  const { context, engine, groups, guard, history, registry, servedGroups, signals } = base;
  const entrances = await buildEntrances(context, stack, { console, engine, groups, guard, registry });
  const delivery = openDelivery(context, stack, { entrances, groups, guard });
  const { notices, patient, retrying, tell } = delivery;
  signal?.throwIfAborted();
  const agents = openAgents(patient);
  const first = await startFirstAbilities(patient, stack, { groups, profiles: agents.profiles, tell });
  const { skills } = first.services;
  const containers = await openContainers(patient, stack, { egress, engine, groups, notices, plugins, skills, tell });
  // Their end does not wait for trouble to pass.
  stack.defer(() => retrying.giveUp());
  await reviewMounts(containers.launcher, context.logger);
  await attachPlugins(plugins, context, containers.servers);
  const changeable = { started: options, groups: servedGroups, history, containers, tell };
  const settings = openSettings(context, stack, changeable);
  signal?.throwIfAborted();
  const { models, providers } = openModels(context, patient, stack);
  const sessions = openSessions(context, stack, { pool: containers.pool, patient, signals });
  const forAbilities = { agents, containers, delivery, entrances, groups, guard, models, sessions, settings, signals };
  const abilities = await startOtherAbilities(context, first, forAbilities);
  const approvals = createApprovals(context, stack, { abilities, agents, containers, delivery, groups, signals });
  const forTurns = { abilities, agents, approvals, containers, delivery, groups, guard, models, sessions, signals };
  const turns = await openTurns(context, stack, forTurns);
  const forChats = { abilities, approvals, containers, delivery, entrances, servedGroups, sessions, turns };
  const chats = openChats(context, stack, forChats);
  await sessions.sideSessions.resume();
  const forWork = { agents, chats, containers, entrances, groups, mayWait: console === undefined, plugins, turns };
  const work = await openWorkOf(context, stack, forWork);
  signals.workAdded.on(() => work.dueWork.changed());
  signals.sessionReady.on((queued) => work.queue.wake(queued));
  await settleAbsence(groups, chats.commands, chats.catchUp);
  signal?.throwIfAborted();
  return await open(stack, {
    abilities,
    approvals,
    chats,
    containers,
    context,
    delivery,
    entrances,
    groups,
    guard,
    plugins,
    providers,
    registry,
    servedGroups,
    sessions,
    settings,
    turns,
    work,
  });
}

/** Lets messages and operations in, and goes on with what is unfinished. */
async function open(stack: AsyncDisposableStack, host: BuiltHost): Promise<Host> {
  const { chats, context, guard, servedGroups, work } = host;
  const intake = await openIntakeOf(context, stack, host);
  servedGroups.arrived.on((group) => chats.book.registered(group));
  servedGroups.arrived.on((group) => chats.catchUp.giveUpOld(group));
  servedGroups.arrived.on((group) => work.queue.wakeGroup(group));
  stack.use(watchConfig(context, host.settings.reloader));
  const { promise: stopAsked, resolve: stop } = Promise.withResolvers<void>();
  await serveOperations(context, stack, host, stop);
  stack.use(openRetention(context));
  addHostGauges(host);
  guard.open();
  // The intake closes before anything else ends.
  stack.defer(() => guard.close());
  await beginIntake(host, intake);
  await goOn(host);
  return running(stack.move(), host, stopAsked);
}

/** Lets messages in. */
function beginIntake({ chats, delivery, entrances }: BuiltHost, { accept, reacted }: Intake): Promise<void> {
  const { outbox, tell } = delivery;
  const { channels, states } = entrances;
  return startChannels(channels, { accept, reacted, outbox, chats: chats.book, states, alert: createAlert(tell) });
}

/** Goes on with unfinished work and open answers, and lets abilities begin. */
async function goOn({ abilities, approvals, context, delivery, groups, turns, work }: BuiltHost): Promise<void> {
  const { store, installed } = context;
  await wakeUnfinished(store, groups, work.queue);
  await turns.compactions.resume();
  work.dueWork.changed();
  approvals.service.checkNow();
  void approvals.reviews.resume();
  abilities.running.begin();
  void installed.look();
  delivery.outbox.wake();
}

function addHostGauges(host: BuiltHost): void {
  const { abilities, containers, context, entrances, guard, registry, work } = host;
  const { outbox, approvals } = context.store;
  addGauges(registry, {
    intakeOpen: () => guard.state().open,
    containersHot: () => containers.pool.list().length,
    groupsWaiting: () => work.queue.waitingGroups(),
    outbox: () => outbox.counts(),
    approvals: () => approvals.openCount(),
    jobs: () => abilities.services.jobs.count(),
    channels: () => entrances.channels,
  });
}

/** Opens the queue. Its turns wait for the engine, and for images. */
async function openWorkOf(
  { config, home, store, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  parts: Pick<BuiltHost, "chats" | "containers" | "entrances" | "groups" | "plugins" | "turns"> & {
    readonly agents: HostAgents;
    /** True when the host may begin before the engine answers. */
    readonly mayWait: boolean;
  },
): Promise<WorkQueue> {
  const { agents, chats, containers, entrances, groups, mayWait, plugins, turns } = parts;
  const engineWait = await adoptWhenReady({
    turns: store.turns,
    sessions: store.sessions,
    folder: home.paths.sessions,
    groups,
    agentGroups: agents.agentGroups,
    pool: containers.pool,
    prepare: () => prepareForPlugins(plugins, containers.prepare),
    mayWait,
    logger,
  });
  return openWork(stack, {
    maxHot: config.sessions.maxHot,
    store,
    groups,
    runner: turns.runner,
    compactions: turns.compactions,
    commands: chats.commands,
    catchUp: chats.catchUp,
    engineWait: stack.use(engineWait),
    imageWait: containers.imageWait,
    signs: stack.use(createSigns(groups, entrances)),
    clock,
    logger,
  });
}

async function openBase(options: HostOptions, stack: AsyncDisposableStack): Promise<Base> {
  const foundation = await openFoundation(options, stack);
  const guard = stack.use(createGuard(foundation));
  const registry = new Registry();
  const metrics = createMetrics(registry);
  stack.use(measureEventLoop(registry));
  foundation.events.subscribe("metrics", countEvents(metrics));
  const context: AppContext = { ...foundation, metrics };
  const engine = openEngineLater(context, stack);
  const { servedGroups, history } = await openGroups(context);
  const signals = { workAdded: new Signal(), sessionReady: new Signal(), toolsChanged: new Signal() } as HostSignals;
  return { context, engine, groups: servedGroups.registry, guard, history, registry, servedGroups, signals };
}

function running(owned: AsyncDisposableStack, host: BuiltHost, stopAsked: Promise<void>): Host {
  const { entrances, guard, settings, work } = host;
  const { outbox, retrying } = host.delivery;
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
    reload: () => settings.reloader.reloadSoon(),
    stop,
    [Symbol.asyncDispose]: () => stop(AbortSignal.abort(new Error("the host is stopping"))),
  };
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
