import { Registry } from "prom-client";

import type { HostConsole } from "../channels/define-channel.ts";
import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import type { ServedGroups } from "../config/serving/served-groups.ts";
import { reviewMounts } from "../sandbox/launch/mount-review.ts";
import { paceLimits } from "../config/configured/groups.ts";
import { startControlServer } from "../surfaces/control/server.ts";
import { createAlert, type TellOperator } from "../delivery/operator-notices.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Readiness } from "../surfaces/http/health.ts";
import { ChatBook } from "../intake/chats/chat-book.ts";
import { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { TurnPace } from "../intake/limits/turn-pace.ts";
import { Signal } from "../lib/signal.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { countEvents } from "../records/metrics/count-events.ts";
import { measureEventLoop } from "../records/metrics/event-loop.ts";
import { createMetrics } from "../records/metrics/metrics.ts";
import type { OperationNeeds } from "../surfaces/operations.ts";
import type { Group } from "../domain/chats/group.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { RetryingStore } from "../stores/retrying-store.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { createGroupToolSet } from "./capabilities/group-tools.ts";
import { skillTools } from "./capabilities/skills/skills.ts";
import { type Capabilities, createCapabilities } from "./capabilities/capabilities.ts";
import { type Containers, openContainers, openEngineLater } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { createApprovals } from "./people/approvals.ts";
import { startChannels } from "../intake/start-channels.ts";
import { buildEntrances, type Entrances } from "./chats/entrances.ts";
import { openDelivery } from "./chats/delivery.ts";
import { EngineWait } from "../sandbox/engine/engine-wait.ts";
import { adoptContainers } from "../work/sessions/adopt-containers.ts";
import { asAgent } from "./as-agent.ts";
import { openFoundation } from "./foundation.ts";
import type { FoundationOptions } from "./foundation.ts";
import { createMcpOperations } from "./capabilities/mcp/mcp-desk.ts";
import { type ChangedTools, createMcp } from "./capabilities/mcp/mcp.ts";
import { createIntake } from "./chats/intake.ts";
import { createInterventions, type Interventions } from "./turns/interventions.ts";
import { createAnswers } from "./people/onboarding.ts";
import { operationNeeds } from "./operations.ts";
import { startUpkeep } from "./data/upkeep.ts";
import { openGroups, openSettings, watchConfig } from "./settings.ts";
import { attachPlugins } from "../plugins/attach-plugins.ts";
import { createWork, resume } from "./turns/queue.ts";
import { mainSessionsOf, type SessionQueue } from "../work/queue/session-queue.ts";
import type { WorkQueue } from "./turns/queue.ts";
import { openTurns } from "./turns/turns.ts";
import { openProviderSet } from "./turns/models.ts";
import { createProgress, createSigns } from "./turns/signs.ts";

export interface HostOptions extends FoundationOptions {
  /** Console of the person who started the host; undefined: none. */
  readonly console: HostConsole | undefined;
  /** Installed plugins; closed by whoever opened them. */
  readonly plugins?: Plugins | undefined;
  readonly egress?: EgressOverrides | undefined;
}

/** A running host. Disposing it is the same as to stop it with a signal that has aborted. */
export interface Host extends AsyncDisposable {
  /** Resolves when the input has ended of channels that have an end; never where none has. */
  readonly inputEnded: Promise<void>;
  /** Resolves when the operator requests a stop, which the starter then performs. */
  readonly stopAsked: Promise<void>;
  /** Resolves when nothing waits, runs or has to be sent. */
  settled(): Promise<void>;
  /** Groups in which a turn runs. */
  atWork(): readonly string[];
  /** Reads the files of the configuration again. Never rejects. */
  reload(): Promise<void>;
  /**
   * Takes nothing more in, lets running turns end until the signal aborts, ends the containers and closes everything,
   * last the store. Turns that are not done by then go on at the next start.
   */
  stop(signal: AbortSignal): Promise<void>;
}

const outboxDrainMs = 5_000;

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
  const delivery = openDelivery(context, stack, { guard, entrances, groups });
  const { outbox, deliver, notices, tell, retrying, patient } = delivery;
  signal?.throwIfAborted();
  const contained = { engine, notices, tell, groups, workAdded: addWork };
  const containers = await openSandbox(context, stack, { ...contained, started: options, retrying, patient });
  const changeable = { started: options, groups: opened, history, containers, tell };
  const { reloader, settings, groupOperations } = openSettings(context, stack, changeable);
  signal?.throwIfAborted();
  const pace = createPace(context);
  const progress = stack.use(createProgress(context, { entrances, outbox }));
  const providers = openProviderSet(context, stack);
  const changed = new Signal<ChangedTools>();
  const mcp = createMcp(context, stack, { servers: containers.servers, changed, groups, tell, providers });
  const hostTools = createGroupToolSet(context, [skillTools(containers), mcp.source]);
  const shares = { ...containers, mcp, hostTools, groups, deliver };
  const approvals = createApprovals(context, stack, { ...shares, queue: () => work.queue, settings });
  changed.on(({ tools, group }) => approvals.descriptions.ask(tools, group));
  const built = { guard, entrances, providers, tell, workAdded: addWork, approvals };
  const capable = { ...shares, ...built, ...lateParts(() => ({ work, runner })) };
  const capabilities = await createCapabilities(patient, stack, capable);
  const working = { ...shares, approvals, capabilities, pace, progress, guard, tell, providers };
  const { runner, ...shown } = await openTurns(context, stack, { ...working, patient });
  const chats = stack.use(new ChatBook(context, groups));
  const admissions = createAnswers(context, { groups, folders: opened.folders, chats });
  const commandable = { ...containers, ...capabilities, runner, ...shown, outbox, pace, admissions, approvals };
  const interventions = createInterventions(context, {
    ...commandable,
    settings,
    operations: () => entrances.gateway.operations,
  });
  const signs = stack.use(createSigns(groups, entrances));
  await capabilities.resume();
  const engineWait = stack.use(await openEngineWait(context, { groups, containers, mayWait: !options.console }));
  const work: WorkQueue = createWork(context, stack, { ...commandable, groups, interventions, signs, engineWait });
  workAdded.on(() => work.dueWork.changed());
  await interventions.afterAbsence(groups);
  signal?.throwIfAborted();
  const shared = { groups, ...work, ...shown, outbox, interventions, entrances, plugins: options.plugins };
  const intake = await createIntake(context, stack, { ...commandable, ...shared, guard, progress });
  welcomeGroups(opened, { chats, interventions, queue: work.queue });
  stack.use(watchConfig(context, reloader));
  const stopAsked = Promise.withResolvers<void>();
  const mcpDesk = createMcpOperations(context, mcp, { list: () => groups.list(), approvals });
  const asked = { ...capabilities, containers, providers, admissions, approvals, reloader, settings, mcpDesk };
  const state = { stop: stopAsked.resolve, intake: () => guard.state() };
  const operations = operationNeeds(context, { ...shared, ...asked, groupOperations, ...state });
  await serveOperations(context, stack, { entrances, operations, capabilities, groups, interventions });
  startUpkeep(context, stack, { registry, guard, containers, work, entrances });
  await openIntake(guard, stack, () => beginIntake(entrances, { ...intake, outbox, chats, tell }));
  await resume(context, groups, { ...work, ...approvals, ...capabilities, ...shown });
  capabilities.start();
  outbox.wake();
  return running(stack.move(), { guard, entrances, work, outbox, retrying, reloader, stopAsked: stopAsked.promise });
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
  const containers = await openContainers(patient, stack, { ...options, egress });
  stack.defer(() => retrying.giveUp());
  await Promise.all([reviewMounts(containers.launcher, context.logger), attachPlugins(plugins, context)]);
  return containers;
}

/** Waits for the engine, and then takes over or removes what an earlier life of the host has left. */
async function openEngineWait(
  context: AppContext,
  options: { readonly groups: GroupRegistry; readonly containers: Containers; readonly mayWait: boolean },
): Promise<EngineWait> {
  const { store, home, logger } = context;
  const { groups, mayWait, containers } = options;
  const { pool, jobs, prepare: prepareEngine } = containers;
  // Asked now: a turn that is given up before the engine is there still had its agent at work.
  const busy = new Set((await store.turns.running()).map((turn) => turn.session));
  const asOwn = (group: Group, agent: string): Group => asAgent(context, group, agent);
  const adopting = {
    sessions: store.sessions,
    folder: home.paths.sessions,
    groups,
    asAgent: asOwn,
    pool,
    jobs,
    logger,
  };
  const prepare = async (): Promise<void> => {
    await prepareEngine();
    await adoptContainers(adopting, busy);
  };
  return EngineWait.begin({ prepare, mayWait, logger });
}

/** Looks in the chat of a group that comes for what waits there. */
function welcomeGroups(
  { arrived }: ServedGroups,
  {
    chats,
    interventions,
    queue,
  }: { readonly chats: ChatBook; readonly interventions: Interventions; readonly queue: SessionQueue },
): void {
  arrived.on((group) => chats.registered(group));
  arrived.on((group) => interventions.catchUp(group));
  arrived.on((group) => mainSessionsOf(group).forEach((queued) => queue.wake(queued)));
}

/** Late-bound parts that abilities use. */
function lateParts(
  parts: () => { readonly work: WorkQueue; readonly runner: TurnRunner },
): Pick<Parameters<typeof createCapabilities>[2], "wake" | "runner"> {
  return {
    wake: (queued) => parts().work.queue.wake(queued),
    runner: { cancel: (...ended) => parts().runner.cancel(...ended) },
  };
}

/** State, proof and the groups: everything else is made with them. */
async function openBase(options: HostOptions, stack: AsyncDisposableStack) {
  const foundation = await openFoundation(options, stack);
  stack.defer(() => foundation.publish({ type: "host.stopped", actor: "host", data: {} }));
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
  const ready = (): Promise<Readiness> => readiness(engine, guard);
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
    capabilities,
    groups,
    interventions,
  }: {
    readonly entrances: Entrances;
    readonly operations: OperationNeeds;
    readonly capabilities: Capabilities;
    readonly groups: GroupRegistry;
    readonly interventions: Interventions;
  },
): Promise<void> {
  entrances.gateway.serve(operations, capabilities.abilities.webhooks);
  // Commands that an earlier life of the host has left may call operations.
  for (const group of groups.list()) await interventions.runLeftCommands(group);
  stack.use(await openControl(context, operations));
}

function createPace(context: AppContext): TurnPace {
  const { store, clock } = context;
  return new TurnPace({ turns: store.turns, limitsOf: (group) => paceLimits(context, group), clock });
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
    if (!signal.aborted) await Promise.race([outbox.idle(), afterMs(outboxDrainMs)]);
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

function afterMs(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs).unref();
  });
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

async function readiness(engine: ContainerEngine, guard: IntakeGuard): Promise<Readiness> {
  const intake = guard.state();
  if (!intake.open) return { ready: false, reasons: [intake.reason] };
  const answers = await engine.facts(AbortSignal.timeout(2_000)).then(
    () => true,
    () => false,
  );
  return answers ? { ready: true, reasons: [] } : { ready: false, reasons: ["container engine away"] };
}
