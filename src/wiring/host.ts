import { Registry } from "prom-client";

import { createAlert, createTellOperator } from "./alerts.ts";
import type { TellOperator } from "./alerts.ts";
import { ChatBook } from "./chat-book.ts";
import { openContainers } from "./containers.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import { buildDoors, hasTrait, openDoors } from "./doors.ts";
import type { Doors, TerminalUse } from "./doors.ts";
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
import { createReplyFormats } from "./replies.ts";
import { Retention } from "./retention.ts";
import { createSigns } from "./signs.ts";
import { createTurns, sessionKeyOf } from "./turns.ts";
import type { Connector, IntakeState } from "../channels/channel.ts";
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
import { GroupQueue } from "../queue/group-queue.ts";
import type { GroupRegistry } from "../intake/group-registry.ts";
import { TurnPace } from "../intake/turn-pace.ts";
import { removeStaleMailboxes } from "../sandbox/mailbox/folders.ts";
import { messagesPerStep } from "../turns/turn-intake.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { mebibyte } from "../lib/bytes.ts";

export interface AppOptions extends FoundationParts {
  /** Undefined: there is no terminal channel. */
  readonly terminal: TerminalUse | undefined;
  /** For programs that embed the host; nothing in the configuration leads to these. */
  readonly channels?: readonly Connector[] | undefined;
  readonly egress?: EgressOverrides | undefined;
}

/** A running host. Disposing it ends the containers and closes everything, last the store. */
export interface App extends AsyncDisposable {
  /** Resolves when the terminal's input has ended; never without a terminal. */
  readonly inputEnded: Promise<void>;
  /** Resolves when nothing waits, runs or has to be sent. */
  settled(): Promise<void>;
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
    terminal: options.terminal,
    more: options.channels ?? [],
    registry,
    ready: () => readiness(containers, intake()),
  });
  const outbox = stack.use(createOutbox(context, doors));
  const tell = createTellOperator(context, { groups, doors, outbox });
  Object.assign(live, { doors, outbox, tell, pool: containers.pool } satisfies Live);
  const files = stack.use(await openOutgoingFiles(context, doors));
  const pace = createPace(context);
  const runner = createTurns(patient, containers, {
    pace,
    deliver: () => outbox.wake(),
    keepFile: (group, path) => files.keep(group, path),
    canReact: (channel) => hasTrait(doors, channel, "reactions"),
    untilWritable: (signal) => guard.untilWritable(signal),
    ...createReplyFormats(context, tell),
  });
  const chats = stack.use(new ChatBook(context, groups));
  const answer = createAnswers(context, { groups, folders, chats });
  const work = { runner, outbox, pool: containers.pool, pace, answer };
  const interventions = createInterventions(context, work);
  const signs = stack.use(createSigns(groups, doors));
  const engineWait = stack.use(await openEngineWait(context, { groups, containers, terminal: options.terminal }));
  const queue = createQueue(context, groups, { runner, interventions, signs, engineWait });
  live.queue = queue;
  await interventions.afterAbsence(groups);
  const shared = { groups, queue, outbox, interventions, doors };
  const accept = await createIntake(context, stack, { ...shared, guard, pace, state: intake });
  const operations = createHostOperations(context, { ...shared, containers, intake, chats });
  stack.use(await openControl(context, operations));
  await openDoors(context, doors, { accept, outbox, chats, alert: createAlert(context, { groups, doors, outbox }) });
  stack.use(createRetention(context));
  await resume(context, groups, queue);
  outbox.wake();
  return finishApp(stack.move(), { doors, queue, outbox, live, patience });
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

function createPace({ config, store, clock }: AppContext): TurnPace {
  return new TurnPace({ turns: store.turns, limitsOf: (group) => paceLimits(config, group), clock });
}

function createRetention(context: AppContext): Retention {
  const { store, events } = context.config;
  const eventDays = events.retentionDays;
  return new Retention({ ...context, days: store.retentionDays, eventDays, keepNewest: messagesPerStep });
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
  queue?: GroupQueue;
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
    groupsWaiting: () => live.queue?.snapshot().waiting.length ?? 0,
    outbox: () => store.outbox.counts(),
    channels: () => live.doors?.channels ?? [],
  };
}

function createGuard({ home, config, store, publish, clock, logger }: Omit<AppContext, "metrics">): IntakeGuard {
  const reserveBytes = config.intake.reserveMb * mebibyte;
  return new IntakeGuard({ folder: home.paths.root, reserveBytes, store, publish, clock, logger });
}

function createQueue(
  { config, logger }: AppContext,
  groups: GroupRegistry,
  parts: { runner: TurnRunner; interventions: Interventions; signs: SignsOfLife; engineWait: EngineWait },
): GroupQueue {
  const queue: GroupQueue = new GroupQueue({
    concurrency: config.sessions.maxHot ?? turnsAtOnce,
    onChange: (group, activity) => parts.signs.note(group, activity),
    run: async (name, signal, place) => {
      const group = groups.byName(name);
      if (group) await parts.interventions.runLeftCommands(group);
      await parts.engineWait.ready(signal);
      if (signal.aborted || !group) return;
      await parts.interventions.giveUpLate(group);
      if (await parts.runner.run(group, signal, place)) queue.wake(name);
    },
    onError: (group, error) => {
      logger.error({ error: toError(error), group }, "a turn could not be run; it is tried again");
      setTimeout(() => queue.wake(group), failedTurnRetryMs).unref();
    },
  });
  return queue;
}

async function openEngineWait(
  context: AppContext,
  parts: { groups: GroupRegistry; containers: Containers; terminal: TerminalUse | undefined },
): Promise<EngineWait> {
  // Asked now: a turn that is given up before the engine is there still had its agent at work.
  const busy = new Set((await context.store.turns.running()).map((turn) => turn.session));
  const prepare = async (): Promise<void> => {
    await parts.containers.prepare();
    await reconcile(context, { ...parts, busy });
  };
  return EngineWait.begin({ prepare, mayWait: parts.terminal === undefined, logger: context.logger });
}

/** Takes over or removes what an earlier life of the host has left. */
async function reconcile(
  { config, home, store, logger }: AppContext,
  { groups, containers, busy }: { groups: GroupRegistry; containers: Containers; busy: ReadonlySet<string> },
): Promise<void> {
  const { pool } = containers;
  const sessions = await store.sessions.list();
  const keyOf = sessionKeyOf(config.assistant.name);
  await pool.reconcile(async (id) => {
    const session = sessions.find((candidate) => candidate.id === id);
    const group = session && groups.byName(session.group);
    if (!group || keyOf(group) !== session.key) return undefined;
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
async function resume({ store }: AppContext, groups: GroupRegistry, queue: GroupQueue): Promise<void> {
  const unfinished = (await store.turns.running()).map((turn) => turn.group);
  for (const name of [...unfinished, ...(await store.messages.waitingGroups())]) {
    if (groups.byName(name)) queue.wake(name);
  }
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
  parts: { doors: Doors; queue: GroupQueue; outbox: Outbox; live: Live; patience: Patience },
): App {
  const { doors, queue, outbox, live, patience } = parts;
  return {
    inputEnded: doors.terminal?.ended ?? new Promise<void>(() => undefined),
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
