import { Registry } from "prom-client";

import { createAlert, createTellOperator } from "./alerts.ts";
import type { TellOperator } from "./alerts.ts";
import { ChatBook } from "./chat-book.ts";
import { openContainers } from "./containers.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { buildDoors, openDoors } from "./doors.ts";
import type { Doors } from "./doors.ts";
import { EngineWait } from "../sandbox/engine/engine-wait.ts";
import { openOutgoingFiles } from "./files.ts";
import { openGroups } from "./groups.ts";
import { createEventNotices } from "./event-notices.ts";
import { openFoundation } from "./foundation.ts";
import type { FoundationParts } from "./foundation.ts";
import { createHostOperations } from "./operations.ts";
import { createIntake } from "./intake.ts";
import { IntakeGuard } from "../intake/intake-guard.ts";
import { createInterventions } from "./interventions.ts";
import type { Interventions } from "./interventions.ts";
import { createAnswers } from "./onboarding.ts";
import { Patience } from "./patience.ts";
import { openReloader } from "./reload.ts";
import { createReplyFormats } from "./replies.ts";
import { Retention } from "./retention.ts";
import { createSigns } from "./signs.ts";
import { createTurns } from "./turns.ts";
import { openProviderSet } from "./turn-settings.ts";
import type { IntakeState } from "../channels/channel.ts";
import type { HostConsole } from "../channels/define-channel.ts";
import { hasTrait } from "../config/adapters.ts";
import type { ConfigReloader } from "../config/config-reloader.ts";
import { paceLimits } from "../config/groups.ts";
import { Outbox } from "../delivery/outbox.ts";
import type { SignsOfLife } from "../delivery/signs-of-life.ts";
import { startControlServer } from "../control/server.ts";
import type { Operations } from "../operations/operations.ts";
import type { Readiness } from "../http/health.ts";
import type { EgressOverrides } from "../sandbox/egress/doors.ts";
import { countEvents } from "../metrics/count-events.ts";
import { createMetrics } from "../metrics/metrics.ts";
import type { MetricSources, Metrics } from "../metrics/metrics.ts";
import { toError } from "../lib/app-error.ts";
import { isSessionOf, mainSessionKey } from "../domain/session.ts";
import { DueWork } from "../queue/due-work.ts";
import { mainSessionOf, SessionQueue } from "../queue/session-queue.ts";
import type { GroupRegistry } from "../intake/group-registry.ts";
import { TurnPace } from "../intake/turn-pace.ts";
import { removeStaleMailboxes } from "../sandbox/mailbox/folders.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { messagesPerStep } from "../turns/turn-intake.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { mebibyte } from "../lib/bytes.ts";

export interface AppOptions extends FoundationParts {
  /** Where whoever started the host talks to it; undefined: nobody does. */
  readonly console: HostConsole | undefined;
  readonly egress?: EgressOverrides | undefined;
}

/** A running host. Disposing it ends the containers and closes everything, last the store. */
export interface App extends AsyncDisposable {
  /** Resolves when the input has ended of channels that have an end; never where none has. */
  readonly inputEnded: Promise<void>;
  /** Resolves when nothing waits, runs or has to be sent. */
  settled(): Promise<void>;
  /** Reads the files of the configuration again. Never rejects. */
  reload(): Promise<void>;
  /** Takes nothing more in and lets running turns end; those that are not done by then go on at the next start. */
  drain(deadlineMs: number): Promise<void>;
}

/** When the configuration does not say. */
const turnsAtOnce = 16;
const failedTurnRetryMs = 5_000;
const outboxDrainMs = 5_000;

/**
 * Builds every part in order, each from those before it, and owns them on one stack: a failure on the way undoes what was
 * built, and disposal goes backwards, so that intake ends first and the store last.
 */
export async function startApp(options: AppOptions): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const registry = new Registry();
  const live: Live = {};
  const foundation = await openFoundation(options, stack);
  const { store, logger, events, publish } = foundation;
  stack.defer(() => publish({ type: "host.stopped", actor: "host", data: {} }));
  const guard = stack.use(createGuard(foundation));
  const intake = (): IntakeState => live.stopping ?? guard.state();
  const metrics = createMetrics(registry, metricSources(live, { store, intake }));
  subscribe(events, { metrics, notices: createEventNotices(logger, (notice) => live.tell?.(notice)) });
  const context: AppContext = { ...foundation, metrics };
  const patience = new Patience({ logger, onTrouble: (error) => guard.failed(error) });
  const patient = patience.applyTo(context);
  const { groups, folders } = await openGroups(context);
  const containers = await openContainers(patient, stack, {
    deliver: () => live.outbox?.wake(),
    egress: options.egress,
  });
  stack.defer(() => patience.giveUp());
  const doors = await buildDoors(context, stack, {
    console: options.console,
    registry,
    ready: () => readiness(containers, intake()),
  });
  const outbox = stack.use(createOutbox(context, doors));
  const tell = createTellOperator(context, { groups, doors, outbox });
  Object.assign(live, { doors, outbox, tell, pool: containers.pool } satisfies Live);
  const files = stack.use(await openOutgoingFiles(context));
  const pace = createPace(context);
  const runner = createTurns(patient, containers, {
    pace,
    providers: openProviderSet(context, stack),
    deliver: () => outbox.wake(),
    workAdded: () => live.dueWork?.changed(),
    keepFile: (group, path) => files.keep(group, path),
    tools: {
      registry: new ToolRegistry(context.adapters.tools),
      channelCan: (channel, ability) => hasTrait(context, channel, ability),
    },
    untilWritable: (signal) => guard.untilWritable(signal),
    ...createReplyFormats(context, tell),
  });
  const chats = stack.use(new ChatBook(context, groups));
  const answer = createAnswers(context, { groups, folders, chats });
  const interventions = createInterventions(context, { runner, outbox, pool: containers.pool, pace, answer });
  const signs = stack.use(createSigns(groups, doors));
  const engineWait = stack.use(
    await openEngineWait(context, { groups, containers, mayWait: options.console === undefined }),
  );
  const { queue, dueWork } = createQueue(context, groups, { runner, interventions, signs, engineWait });
  Object.assign(live, { queue, dueWork: stack.use(dueWork) } satisfies Live);
  await interventions.afterAbsence(groups);
  const shared = { groups, queue, dueWork, outbox, interventions, doors };
  const accept = await createIntake(context, stack, { ...shared, guard, pace, state: intake });
  const reloader = openReloader(context, stack, { ...shared, ...options, folders, containers, chats, tell });
  const operations = createHostOperations(context, { ...shared, containers, intake, chats, reloader });
  stack.use(await openControl(context, operations));
  await openDoors(context, doors, { accept, outbox, chats, alert: createAlert(context, { groups, doors, outbox }) });
  stack.use(createRetention(context));
  await resume(context, groups, { queue, dueWork });
  outbox.wake();
  return finishApp(stack.move(), { doors, queue, outbox, live, patience, reloader });
}

function subscribe(
  events: AppContext["events"],
  { metrics, notices }: { metrics: Metrics; notices: ReturnType<typeof createEventNotices> },
): void {
  events.subscribe("metrics", countEvents(metrics));
  events.subscribe("operator notices", notices);
}

function openControl({ home, logger, publish }: AppContext, operations: Operations): Promise<AsyncDisposable> {
  const onFault = (error: Error): void => logger.error({ error }, "a request on the control socket failed");
  return startControlServer({ socketPath: home.paths.controlSocket, operations, publish, onFault });
}

function createPace(context: AppContext): TurnPace {
  const { store, clock } = context;
  return new TurnPace({ turns: store.turns, limitsOf: (group) => paceLimits(context, group), clock });
}

function createRetention(context: AppContext): Retention {
  const { config } = context;
  return new Retention({
    ...context,
    get days() {
      return config.store.retentionDays;
    },
    get eventDays() {
      return config.events.retentionDays;
    },
    keepNewest: messagesPerStep,
  });
}

function createOutbox({ store, logger, clock, publish }: AppContext, { channels }: Doors): Outbox {
  return new Outbox({
    store: store.outbox,
    channelOf: (name) => channels.find((channel) => channel.name === name),
    logger,
    clock,
    publish,
  });
}

/** Parts that others look at before they exist, and what the host says once it takes nothing more in. */
interface Live {
  pool?: Containers["pool"];
  queue?: SessionQueue;
  dueWork?: DueWork;
  doors?: Doors;
  outbox?: Outbox;
  tell?: TellOperator;
  stopping?: Extract<IntakeState, { open: false }>;
}

function metricSources(
  live: Live,
  { store, intake }: { store: AppContext["store"]; intake: () => IntakeState },
): MetricSources {
  return {
    intakeOpen: () => intake().open,
    containersHot: () => live.pool?.list().length ?? 0,
    groupsWaiting: () => live.queue?.waitingGroups() ?? 0,
    outbox: () => store.outbox.counts(),
    channels: () => live.doors?.channels ?? [],
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

function createQueue(
  { config, store, clock, logger }: AppContext,
  groups: GroupRegistry,
  parts: { runner: TurnRunner; interventions: Interventions; signs: SignsOfLife; engineWait: EngineWait },
): { readonly queue: SessionQueue; readonly dueWork: DueWork } {
  const queue: SessionQueue = new SessionQueue({
    concurrency: config.sessions.maxHot ?? turnsAtOnce,
    onChange: ({ session, group: name }, activity) => {
      const group = groups.byName(name);
      // What a group's other sessions do is nobody's wait for an answer.
      if (group && session === mainSessionKey(group)) parts.signs.note(name, activity);
    },
    run: async (queued, signal, place) => {
      const group = groups.byName(queued.group);
      if (group) await parts.interventions.runLeftCommands(group);
      await parts.engineWait.ready(signal);
      if (signal.aborted || !group) return;
      await parts.interventions.giveUpLate(group);
      if (await parts.runner.run({ group, key: queued.session }, signal, place)) queue.wake(queued);
    },
    onError: (queued, error) => {
      logger.error({ error: toError(error), ...queued }, "a turn could not be run; it is tried again");
      setTimeout(() => queue.wake(queued), failedTurnRetryMs).unref();
    },
  });
  const dueWork = new DueWork({ work: store.work, wake: (queued) => queue.wake(queued), clock, logger });
  return { queue, dueWork };
}

async function openEngineWait(
  context: AppContext,
  parts: { groups: GroupRegistry; containers: Containers; mayWait: boolean },
): Promise<EngineWait> {
  // Asked now: a turn that is given up before the engine is there still had its agent at work.
  const busy = new Set((await context.store.turns.running()).map((turn) => turn.session));
  const prepare = async (): Promise<void> => {
    await parts.containers.prepare();
    await reconcile(context, { ...parts, busy });
  };
  return EngineWait.begin({ prepare, mayWait: parts.mayWait, logger: context.logger });
}

/** Takes over or removes what an earlier life of the host has left. */
async function reconcile(
  { home, store, logger }: AppContext,
  { groups, containers, busy }: { groups: GroupRegistry; containers: Containers; busy: ReadonlySet<string> },
): Promise<void> {
  const { pool } = containers;
  const sessions = await store.sessions.list();
  await pool.reconcile(async (id) => {
    const session = sessions.find((candidate) => candidate.id === id);
    const group = session && groups.byName(session.group);
    if (!group || !isSessionOf(session, group) || session.archivedAt !== undefined) return undefined;
    return { group, session, busy: busy.has(id) };
  });
  // What was said while they were taken over counts as well.
  for (const session of await store.sessions.list()) await pool.retire(session, "a new conversation has begun");
  const hot = new Set(pool.list().map(({ session, generation }) => `${session}/${generation}`));
  const isHot = (session: string, generation: number): boolean => hot.has(`${session}/${generation}`);
  const left = await removeStaleMailboxes(home.paths.sessions, isHot);
  if (left.length > 0) logger.warn({ folders: left }, "mailboxes of earlier containers could not be removed");
}

/** Goes on with what was unfinished, in the groups that are still registered. */
async function resume(
  { store }: AppContext,
  groups: GroupRegistry,
  { queue, dueWork }: { queue: SessionQueue; dueWork: DueWork },
): Promise<void> {
  const sessions = new Map((await store.sessions.list()).map((session) => [session.id, session]));
  for (const turn of await store.turns.running()) {
    const session = sessions.get(turn.session);
    const group = groups.byName(turn.group);
    if (session && group && isSessionOf(session, group)) queue.wake({ session: session.key, group: group.name });
  }
  for (const name of await store.messages.waitingGroups()) {
    const group = groups.byName(name);
    if (group) queue.wake(mainSessionOf(group));
  }
  dueWork.changed();
}

async function readiness({ engine }: Containers, intake: IntakeState): Promise<Readiness> {
  if (!intake.open) return { ready: false, reasons: [intake.reason] };
  const answers = await engine.facts(AbortSignal.timeout(2_000)).then(
    () => true,
    () => false,
  );
  return answers ? { ready: true, reasons: [] } : { ready: false, reasons: ["container engine away"] };
}

function finishApp(
  owned: AsyncDisposableStack,
  parts: {
    doors: Doors;
    queue: SessionQueue;
    outbox: Outbox;
    live: Live;
    patience: Patience;
    reloader: ConfigReloader;
  },
): App {
  const { doors, queue, outbox, live, patience } = parts;
  return {
    inputEnded: doors.inputEnded,
    reload: () => parts.reloader.reloadSoon(),
    settled: async () => {
      await queue.idle();
      await outbox.idle();
    },
    drain: async (deadlineMs) => {
      live.stopping = { open: false, code: "stopping", reason: "the host is stopping" };
      const deadline = setTimeout(() => patience.giveUp(), deadlineMs);
      await queue.stop(deadlineMs);
      clearTimeout(deadline);
      await Promise.race([outbox.idle(), new Promise((resolve) => setTimeout(resolve, outboxDrainMs).unref())]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
