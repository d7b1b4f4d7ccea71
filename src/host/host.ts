import { Registry } from "prom-client";

import { removeUnreferenced } from "../stores/blobs/remove-unreferenced.ts";
import type { HostConsole } from "../channels/define-channel.ts";
import { hasTrait } from "../config/adapters.ts";
import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import { paceLimits } from "../config/groups.ts";
import { startControlServer } from "../surfaces/control/server.ts";
import { createEventNotices } from "../delivery/event-notices.ts";
import { createAlert, createTellOperator, type TellOperator } from "../delivery/operator-notices.ts";
import { Outbox } from "../delivery/outbox.ts";
import { createQuotes } from "../delivery/quotes.ts";
import type { Readiness } from "../surfaces/http/health.ts";
import { ChatBook } from "../intake/chats/chat-book.ts";
import { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { TurnPace } from "../intake/limits/turn-pace.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { countEvents } from "../records/metrics/count-events.ts";
import { measureEventLoop } from "../records/metrics/event-loop.ts";
import { addGauges, createMetrics } from "../records/metrics/metrics.ts";
import type { OperationNeeds } from "../surfaces/operations.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import type { Plugins } from "../plugins/plugins.ts";
import { Retention } from "../stores/retention.ts";
import { RetryingStore } from "../stores/retrying-store.ts";
import type { ProviderSet } from "../models/routes/provider-set.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { messagesPerStep } from "../turns/steps/turn-intake.ts";
import { createGroupToolSet, type GroupToolSet } from "./capabilities/group-tools.ts";
import { skillTools } from "./capabilities/skills.ts";
import { type Capabilities, createCapabilities } from "./capabilities/capabilities.ts";
import { type Containers, openContainers, openEngineLater, reviewMounts } from "./containers/containers.ts";
import type { ChannelResources } from "./entrances/channels.ts";
import type { AppContext } from "./context.ts";
import { type Approvals, createApprovals } from "./people/approvals.ts";
import { buildEntrances, startChannels } from "./entrances/entrances.ts";
import type { Entrances } from "./entrances/entrances.ts";
import { openEngineWait } from "./containers/engine-wait.ts";
import { openFoundation } from "./foundation.ts";
import type { FoundationOptions } from "./foundation.ts";
import { openGroups } from "./groups.ts";
import { createMcpDesk } from "./capabilities/mcp-desk.ts";
import { createMcp, type Mcp } from "./capabilities/mcp.ts";
import type { OpenStdio } from "../sandbox/servers/server-streams.ts";
import { createIntake } from "./entrances/intake.ts";
import { createInterventions } from "./turns/interventions.ts";
import { createAnswers } from "./people/onboarding.ts";
import { operationNeeds } from "./operations.ts";
import { attachPlugins } from "./plugins/attach-plugins.ts";
import { createWork, resume } from "./turns/queue.ts";
import type { WorkQueue } from "./turns/queue.ts";
import { openTurns } from "./turns/turns.ts";
import { openProviderSet } from "./turns/models.ts";
import { openSettings, type Settings } from "./settings/settings.ts";
import { createProgress, createSigns } from "./turns/signs.ts";

export interface HostOptions extends FoundationOptions {
  /** Where whoever started the host talks to it; undefined: nobody does. */
  readonly console: HostConsole | undefined;
  /** Those that are installed in the home; whoever opened them closes them. */
  readonly plugins?: Plugins | undefined;
  readonly egress?: EgressOverrides | undefined;
}

/** A running host. Disposing it is the same as to stop it with a signal that has aborted. */
export interface Host extends AsyncDisposable {
  /** Resolves when the input has ended of channels that have an end; never where none has. */
  readonly inputEnded: Promise<void>;
  /** Resolves when the operator has asked for a stop, which is for whoever has started the host to begin. */
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
 * was built, and disposal goes backwards. The way in comes first, so that a port or a channel which cannot be had ends
 * the start before anything else has begun; it lets nothing in before everything is there, and ends first. The signal
 * ends a start in the middle.
 */
export async function startHost(options: HostOptions, signal?: AbortSignal): Promise<Host> {
  await using stack = new AsyncDisposableStack();
  const served: Served = {};
  const { context, guard, entrances, registry, engine } = await openBase(options, stack, served);
  signal?.throwIfAborted();
  const opened = await openGroups(context);
  const groups = (served.groups = opened.groups);
  const outbox = stack.use(createOutbox(context, entrances));
  const tell = tellOperator(context, { groups, outbox, entrances });
  const retrying = createRetrying(context, guard);
  const deliver = (): void => outbox.wake();
  const patient = patientContext(context, retrying);
  const workAdded = (): void => served.work?.dueWork.changed();
  const containers = await openContainers(patient, stack, { ...options, engine, deliver, tell, groups, workAdded });
  stack.defer(() => retrying.giveUp());
  await Promise.all([reviewMounts(context, containers.launcher), attachPlugins(context, options.plugins)]);
  signal?.throwIfAborted();
  const pace = createPace(context);
  const progress = stack.use(createProgress(context, { entrances, outbox }));
  const providers = openProviderSet(context, stack);
  const shares = { ...createSources(context, stack, { containers, groups, tell, providers, served }), groups, deliver };
  const parts = { queue: () => work.queue, settings: () => served.settings };
  const approvals = createApprovals(context, stack, { ...shares, ...parts });
  served.approvals = approvals;
  const built = { guard, entrances, providers, tell, workAdded, approvals };
  const capable = { ...shares, ...built, ...lateParts(() => ({ work, runner })) };
  const capabilities = (served.capabilities = await createCapabilities(patient, stack, capable));
  const working = { ...shares, approvals, capabilities, pace, progress, guard, tell, providers };
  const { runner, ...shown } = await openTurns(context, stack, { ...working, patient });
  const chats = stack.use(new ChatBook(context, groups));
  const admissions = createAnswers(context, { ...opened, chats });
  const commandable = { ...containers, ...capabilities, runner, ...shown, outbox, pace, admissions, approvals };
  const interventions = createInterventions(context, { ...commandable, ...servedLater(served) });
  const signs = stack.use(createSigns(groups, entrances));
  await capabilities.resume();
  const engineWait = stack.use(await openEngineWait(context, { groups, containers, mayWait: !options.console }));
  const work: WorkQueue = createWork(context, stack, { ...commandable, groups, interventions, signs, engineWait });
  served.work = work;
  await interventions.afterAbsence(groups);
  signal?.throwIfAborted();
  const shared = { groups, ...work, ...shown, outbox, interventions, entrances, plugins: options.plugins };
  const taking = await createIntake(context, stack, { ...commandable, ...shared, guard, progress });
  const changing = { ...shared, ...opened, ...capabilities, containers, chats, tell, providers };
  const { reloader, settings } = openSettings(context, stack, options, changing);
  served.settings = settings;
  const stopAsked = Promise.withResolvers<void>();
  const asked = { ...capabilities, admissions, approvals, reloader, settings, ...shares };
  const needs = { ...changing, ...asked, stop: stopAsked.resolve, intake: () => guard.state() };
  served.operations = operationNeeds(context, needs);
  for (const group of groups.list()) await interventions.runLeftCommands(group);
  stack.use(await openControl(context, served.operations));
  stack.use(createRetention(context));
  addGauges(registry, gaugeSources(context, { guard, containers, work, entrances }));
  openIntake(guard, stack);
  await startChannels(entrances, { ...taking, outbox, chats, alert: createAlert(tell) });
  await resume(context, groups, { ...work, ...approvals, ...capabilities, ...shown });
  capabilities.start();
  outbox.wake();
  return running(stack.move(), { guard, entrances, work, outbox, retrying, reloader, stopAsked: stopAsked.promise });
}

function serverOpener({ interception }: AppContext, { servers }: Containers): OpenStdio {
  return interception.servers((server, group, signal) => servers.open(server, group, signal));
}

/** Containers, and the tools of groups, whoever has them. */
function createSources(
  context: AppContext,
  stack: AsyncDisposableStack,
  {
    containers,
    served,
    ...told
  }: {
    readonly containers: Containers;
    readonly served: Served;
    readonly groups: GroupRegistry;
    readonly tell: TellOperator;
    readonly providers: ProviderSet;
  },
): Containers & { readonly mcp: Mcp; readonly mcpDesk: OperationNeeds["mcp"]; readonly hostTools: GroupToolSet } {
  const approvals = (): Approvals | undefined => served.approvals;
  const descriptions = (): Approvals["descriptions"] | undefined => served.approvals?.descriptions;
  const mcp = createMcp(context, stack, { openStdio: serverOpener(context, containers), descriptions, ...told });
  const mcpDesk = createMcpDesk(context, mcp, { list: () => told.groups.list(), approvals });
  return { ...containers, mcp, mcpDesk, hostTools: createGroupToolSet(context, [skillTools(containers), mcp.source]) };
}

/** What capabilities use of parts that are made after them. */
function lateParts(
  parts: () => { readonly work: WorkQueue; readonly runner: TurnRunner },
): Pick<Parameters<typeof createCapabilities>[2], "wake" | "runner"> {
  return {
    wake: (queued) => parts().work.queue.wake(queued),
    runner: { cancel: (...ended) => parts().runner.cancel(...ended) },
  };
}

/** What chat commands ask for of parts that are made after them. */
function servedLater(served: Served): Pick<Parameters<typeof createInterventions>[1], "operations" | "settings"> {
  return { operations: () => served.operations, settings: () => served.settings };
}

/** What the way in, chat commands and containers lead to, as soon as it is there. */
interface Served {
  groups?: GroupRegistry | undefined;
  approvals?: Approvals | undefined;
  settings?: Settings | undefined;
  capabilities?: Capabilities | undefined;
  operations?: OperationNeeds | undefined;
  /**
   * Containers that are taken over may have news of jobs before there is somebody to do the work; all of it is looked
   * for later.
   */
  work?: WorkQueue | undefined;
}

/** State, proof, and the way in, as far as it can be had before anything else. */
async function openBase(options: HostOptions, stack: AsyncDisposableStack, served: Served) {
  const groups: ChannelResources["groups"] = () => served.groups?.list() ?? [];
  const foundation = await openFoundation(options, stack);
  stack.defer(() => foundation.publish({ type: "host.stopped", actor: "host", data: {} }));
  const guard = stack.use(createGuard(foundation));
  const registry = new Registry();
  const metrics = createMetrics(registry);
  stack.use(measureEventLoop(registry));
  foundation.events.subscribe("metrics", countEvents(metrics));
  const context: AppContext = { ...foundation, metrics };
  const engine = openEngineLater(context, stack);
  const ready = (): Promise<Readiness> => readiness(engine, guard);
  const late = { webhooks: () => served.capabilities?.abilities.webhooks, operations: () => served.operations };
  const asked = { groups, registry, ready, ...late };
  const entrances = await buildEntrances(context, stack, { console: options.console, ...asked });
  return { context, guard, registry, engine, entrances };
}

function openIntake(guard: IntakeGuard, stack: AsyncDisposableStack): void {
  guard.open();
  stack.defer(() => guard.close());
}

function tellOperator(
  { store, clock, logger, events }: AppContext,
  { groups, outbox, entrances: { channels } }: { groups: GroupRegistry; outbox: Outbox; entrances: Entrances },
): TellOperator {
  const tell = createTellOperator({ outboxStore: store.outbox, outbox, groups, channels, clock, logger });
  events.subscribe("operator notices", createEventNotices(logger, tell));
  return tell;
}

function createPace(context: AppContext): TurnPace {
  const { store, clock } = context;
  return new TurnPace({ turns: store.turns, limitsOf: (group) => paceLimits(context, group), clock });
}

function createRetrying({ store, logger }: AppContext, guard: IntakeGuard): RetryingStore {
  return new RetryingStore(store, { logger, onTrouble: (error) => guard.failed(error) });
}

/** What turns are worked on with: trouble of the machine is waited for. */
function patientContext(context: AppContext, retrying: RetryingStore): AppContext {
  const { publish } = context;
  return { ...context, store: retrying.store, publish: (event) => retrying.retry(() => publish(event)) };
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

function createRetention(context: AppContext): Retention {
  const { config, clock, blobs: folder } = context;
  const removeBlobs = (signal: AbortSignal): Promise<number> =>
    removeUnreferenced({ folder, blobs: context.store.blobs, clock }, signal);
  return new Retention({
    ...context,
    get days() {
      return config.store.retentionDays;
    },
    get eventDays() {
      return config.events.retentionDays;
    },
    removeBlobs,
    keepNewest: messagesPerStep,
  });
}

function createOutbox(context: AppContext, { channels }: Entrances): Outbox {
  const { store, logger, clock, publish } = context;
  const canQuote = (channel: string): boolean => hasTrait(context, channel, "quotes");
  return new Outbox({
    quoteOf: createQuotes({ messages: store.messages, canQuote }),
    namesAgents: (channel) => hasTrait(context, channel, "namesAgents"),
    store: store.outbox,
    channelOf: (name) => channels.find((channel) => channel.name === name),
    logger,
    clock,
    publish,
  });
}

function gaugeSources(
  { store }: AppContext,
  options: {
    readonly guard: IntakeGuard;
    readonly containers: Awaited<ReturnType<typeof openContainers>>;
    readonly work: WorkQueue;
    readonly entrances: Entrances;
  },
): Parameters<typeof addGauges>[1] {
  const { guard, containers, work, entrances } = options;
  return {
    intakeOpen: () => guard.state().open,
    containersHot: () => containers.pool.list().length,
    groupsWaiting: () => work.queue.waitingGroups(),
    outbox: () => store.outbox.counts(),
    approvals: () => store.approvals.openCount(),
    jobs: () => containers.jobs.count(),
    channels: () => entrances.channels,
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

async function readiness(engine: ContainerEngine, guard: IntakeGuard): Promise<Readiness> {
  const intake = guard.state();
  if (!intake.open) return { ready: false, reasons: [intake.reason] };
  const answers = await engine.facts(AbortSignal.timeout(2_000)).then(
    () => true,
    () => false,
  );
  return answers ? { ready: true, reasons: [] } : { ready: false, reasons: ["container engine away"] };
}
