import { Registry } from "prom-client";

import type { ApprovalDesk } from "../approvals/approval-desk.ts";
import { removeUnreferenced } from "../blobs/remove-unreferenced.ts";
import type { HostConsole } from "../channels/define-channel.ts";
import { hasTrait } from "../config/adapters.ts";
import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import { paceLimits } from "../config/groups.ts";
import { secretsOf } from "../config/loading/secrets.ts";
import { startControlServer } from "../control/server.ts";
import { createEventNotices } from "../delivery/event-notices.ts";
import { createFailureNotices } from "../delivery/failure-notices.ts";
import { createAlert, createTellOperator } from "../delivery/operator-notices.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import { Outbox } from "../delivery/outbox.ts";
import { createQuotes } from "../delivery/quotes.ts";
import { createReplyFormats } from "../delivery/reply-redaction.ts";
import type { ReplyFormats } from "../delivery/reply-redaction.ts";
import type { WebhookIntake } from "../hooks/webhook-intake.ts";
import type { Readiness } from "../http/health.ts";
import { ChatBook } from "../intake/chats/chat-book.ts";
import { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { TurnPace } from "../intake/limits/turn-pace.ts";
import { mebibyte } from "../lib/text/bytes.ts";
import { countEvents } from "../metrics/count-events.ts";
import { addGauges, createMetrics, measureEventLoop } from "../metrics/metrics.ts";
import type { Operations } from "../operations/operations.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { EgressOverrides } from "../sandbox/egress/egress-proxies.ts";
import type { ContainerEngine } from "../sandbox/engine/engine.ts";
import { Retention } from "../stores/retention.ts";
import { RetryingStore } from "../stores/retrying-store.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { messagesPerStep } from "../turns/steps/turn-intake.ts";
import { createCapabilities } from "./capabilities.ts";
import type { Capabilities } from "./capabilities.ts";
import { openContainers, openEngineLater, reviewMounts } from "./containers.ts";
import type { Containers } from "./containers.ts";
import type { ChannelResources } from "./channels.ts";
import type { AppContext } from "./context.ts";
import { createApprovals } from "./approvals.ts";
import type { Approvals } from "./approvals.ts";
import { buildEntrances, startChannels } from "./entrances.ts";
import type { Entrances } from "./entrances.ts";
import { openEngineWait } from "./engine-wait.ts";
import { openOutgoingFiles } from "./files.ts";
import { openFoundation } from "./foundation.ts";
import type { FoundationOptions } from "./foundation.ts";
import { openGroups } from "./groups.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { createWebhooks } from "./hooks.ts";
import { createIntake } from "./intake.ts";
import { createInterventions } from "./interventions.ts";
import { createAnswers } from "./onboarding.ts";
import { createHostOperations } from "./operations.ts";
import { createWork, resume } from "./queue.ts";
import type { WorkQueue } from "./queue.ts";
import { openSettings, type Settings } from "./settings.ts";
import { createProgress, createSigns } from "./signs.ts";
import { openProviderSet } from "./turn-settings.ts";
import { createTurns } from "./turns.ts";

export interface HostOptions extends FoundationOptions {
  /** Where whoever started the host talks to it; undefined: nobody does. */
  readonly console: HostConsole | undefined;
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
   * Takes nothing more in, lets running turns end until the signal aborts, ends the containers and closes everything, last the
   * store. Turns that are not done by then go on at the next start.
   */
  stop(signal: AbortSignal): Promise<void>;
}

const outboxDrainMs = 5_000;

/**
 * Builds every part in order, each from those before it, and owns them on one stack: a failure on the way undoes what was
 * built, and disposal goes backwards. The way in comes first, so that a port or a channel which cannot be had ends the start
 * before anything else has begun; it lets nothing in before everything is there, and ends first. The signal ends a start in
 * the middle.
 */
export async function startHost(options: HostOptions, signal?: AbortSignal): Promise<Host> {
  await using stack = new AsyncDisposableStack();
  const served: Served = { groups: undefined, desk: undefined, settings: undefined, webhooks: undefined };
  const base = await openBase(options, stack, served);
  const { context, guard, entrances, registry, engine } = base;
  signal?.throwIfAborted();
  const opened = await openGroups(context);
  const { groups } = opened;
  served.groups = groups;
  const outbox = stack.use(createOutbox(context, entrances));
  const tell = tellOperator(context, { groups, outbox, entrances });
  const retrying = createRetrying(context, guard);
  const deliver = (): void => outbox.wake();
  const patient = patientContext(context, retrying);
  const containers = await openContainers(patient, stack, { engine, deliver, tell, egress: options.egress });
  stack.defer(() => retrying.giveUp());
  await reviewMounts(context, containers.launcher);
  signal?.throwIfAborted();
  const pace = createPace(context);
  const progress = stack.use(createProgress(context, { entrances, outbox }));
  const approvals = createApprovals(context, stack, { ...containers, queue: () => work.queue, deliver });
  served.desk = approvals.desk;
  const workAdded = (): void => work.dueWork.changed();
  const providers = openProviderSet(context, stack);
  const capabilities = createCapabilities(patient, stack, { pool: containers.pool, workAdded, groups, providers });
  const working = { ...containers, approvals, capabilities, pace, progress, deliver, guard, tell, groups, providers };
  const runner = await openRunner(context, stack, { ...working, patient });
  const chats = stack.use(new ChatBook(context, groups));
  const admissions = createAnswers(context, { ...opened, chats });
  const commandable = { ...containers, ...capabilities, runner, outbox, pace, admissions, approvals };
  const interventions = createInterventions(context, { ...commandable, settings: () => served.settings });
  const signs = stack.use(createSigns(groups, entrances));
  await capabilities.resume();
  const engineWait = stack.use(await openEngineWait(context, { groups, containers, mayWait: !options.console }));
  const work: WorkQueue = createWork(context, stack, { groups, runner, interventions, signs, engineWait });
  await interventions.afterAbsence(groups);
  signal?.throwIfAborted();
  const shared = { groups, ...work, outbox, interventions, entrances };
  const heartbeats = createHeartbeats(patient, stack, { groups, sideSessions: capabilities.sideSessions });
  served.webhooks = createWebhooks(context, { groups, guard, dueWork: work.dueWork });
  const taking = await createIntake(context, stack, { ...shared, admissions, approvals, guard, pace, progress });
  const changing = { ...shared, ...opened, containers, chats, tell, heartbeats };
  const { reloader, settings } = openSettings(context, stack, options, changing);
  served.settings = settings;
  const stopAsked = Promise.withResolvers<void>();
  const asked = { admissions, approvals, reloader, settings, stop: stopAsked.resolve };
  stack.use(await openOperations(context, { ...changing, ...asked, intake: () => guard.state() }));
  stack.use(createRetention(context));
  addGauges(registry, gaugeSources(context, { guard, containers, work, entrances }));
  openIntake(guard, stack);
  await startChannels(entrances, { ...taking, outbox, chats, alert: createAlert(tell) });
  await resume(context, groups, { ...work, ...approvals });
  outbox.wake();
  return running(stack.move(), { guard, entrances, work, outbox, retrying, reloader, stopAsked: stopAsked.promise });
}

/** What works on turns, with `patient`: trouble of the machine is waited for. */
async function openRunner(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: Containers &
    Pick<Parameters<typeof createTurns>[2], "pace" | "progress" | "deliver"> & {
      readonly approvals: Approvals;
      readonly providers: ReturnType<typeof openProviderSet>;
      readonly capabilities: Capabilities;
      readonly guard: IntakeGuard;
      readonly tell: TellOperator;
      readonly groups: GroupRegistry;
      readonly patient: AppContext;
    },
): Promise<TurnRunner> {
  const { approvals, capabilities, pace, progress, deliver, guard, patient } = options;
  const files = stack.use(await openOutgoingFiles(context));
  return createTurns(patient, options, {
    ...approvals.forTurns,
    ...capabilities.forTurns,
    pace,
    progress,
    deliver,
    providers: options.providers,
    keepFile: (group, path) => files.keep(group, path),
    ...toolsOf(context, options.groups),
    untilWritable: (until) => guard.untilWritable(until),
    ...createWords(context, options),
  });
}

/** What the way in and chat commands lead to, as soon as it is there. */
interface Served {
  groups: GroupRegistry | undefined;
  desk: ApprovalDesk | undefined;
  settings: Settings | undefined;
  webhooks: WebhookIntake | undefined;
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
  const desk = (): ApprovalDesk | undefined => served.desk;
  const webhooks = (): WebhookIntake | undefined => served.webhooks;
  const asked = { groups, registry, ready, desk, webhooks };
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

/** The tools of turns, and the groups whose sessions they may look at. */
function toolsOf(
  context: AppContext,
  groups: GroupRegistry,
): Pick<Parameters<typeof createTurns>[2], "groups" | "tools"> {
  const registry = new ToolRegistry(context.adapters.tools);
  return { groups, tools: { registry, channelCan: (channel, ability) => hasTrait(context, channel, ability) } };
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

function openControl({ home, logger, publish }: AppContext, operations: Operations): Promise<AsyncDisposable> {
  const onFault = (error: Error): void => logger.error({ error }, "a request on the control socket failed");
  return startControlServer({ socketPath: home.paths.controlSocket, operations, publish, onFault });
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

function createWords(
  context: AppContext,
  { tell, groups }: { readonly tell: TellOperator; readonly groups: GroupRegistry },
): ReplyFormats & Pick<Parameters<typeof createTurns>[2], "tellFailure"> {
  const tellFailure = createFailureNotices({ tell, groups, clock: context.clock });
  return { ...createFormats(context, tell), tellFailure };
}

function openOperations(
  context: AppContext,
  options: Parameters<typeof createHostOperations>[1],
): ReturnType<typeof openControl> {
  return openControl(context, createHostOperations(context, options));
}

function createFormats({ live, adapters, home, publish, clock, logger }: AppContext, tell: TellOperator): ReplyFormats {
  return createReplyFormats({
    secrets: () => secretsOf(live.current, adapters),
    onChange: (changed) => live.onChange(changed),
    homeFolder: home.paths.root,
    tell,
    publish,
    clock,
    logger,
  });
}

function createOutbox(context: AppContext, { channels }: Entrances): Outbox {
  const { store, logger, clock, publish } = context;
  const canQuote = (channel: string): boolean => hasTrait(context, channel, "quotes");
  return new Outbox({
    quoteOf: createQuotes({ messages: store.messages, canQuote }),
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
