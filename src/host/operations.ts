import { followInTurn } from "../records/events/read-in-turn.ts";
import { createGroupNeeds, createModelNeeds } from "../surfaces/operation-needs.ts";
import { chatFault } from "../config/adapters.ts";
import { referencesOf } from "../models/routes/routes.ts";
import type { OperationNeeds } from "../surfaces/operations.ts";
import { totalUsdPerDay } from "../domain/turns/usage.ts";
import { memoize } from "../lib/memoize.ts";
import { requeueTurn } from "../work/queue/requeue-turn.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { startControlServer } from "../surfaces/control/server.ts";
import type { WorkQueue } from "../work/queue/open-work.ts";
import type { HostAbilities } from "./abilities.ts";
import type { Approvals } from "./approvals.ts";
import type { HostChats } from "./chats.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Containers, HostSessions } from "./containers.ts";
import type { AppContext } from "./context.ts";
import type { Entrances, HostDelivery } from "./channels.ts";
import type { HostSettings } from "./settings.ts";
import type { HostModels, Turns } from "./turns.ts";
import { createPeopleView } from "../config/serving/people.ts";
import { quietGroups } from "../work/quiet-groups.ts";

interface OperationParts {
  readonly abilities: HostAbilities;
  readonly approvals: Pick<Approvals, "descriptions" | "reviews" | "service">;
  readonly chats: Pick<HostChats, "admissions" | "commands">;
  readonly containers: Containers;
  readonly delivery: Pick<HostDelivery, "outbox">;
  readonly entrances: Entrances;
  readonly groups: GroupRegistry;
  readonly guard: Pick<IntakeGuard, "state">;
  readonly plugins: Plugins | undefined;
  readonly providers: HostModels["providers"];
  readonly sessions: HostSessions;
  readonly settings: HostSettings;
  readonly turns: Turns;
  readonly work: WorkQueue;
}

/** Lets programs call operations and webhooks, over HTTP and on the control socket. */
export async function serveOperations(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: OperationParts,
  /** Asks for the end of the host. */
  stop: () => void,
): Promise<void> {
  const { abilities, chats, entrances, groups } = parts;
  const { home, logger, publish } = context;
  const needs = operationNeeds(context, parts, stop);
  entrances.gateway.serve(needs, abilities.services.webhooks);
  // Commands that an earlier life of the host has left may call operations.
  for (const group of groups.list()) await chats.commands.runLeft(group);
  const onFault = (error: Error): void => logger.error({ error }, "a request on the control socket failed");
  stack.use(await startControlServer({ socketPath: home.paths.controlSocket, needs, publish, onFault }));
}

/** The parts of the host that operations work with; those of abilities are their services, by name. */
function operationNeeds(context: AppContext, parts: OperationParts, stop: () => void): OperationNeeds {
  const { config, store, clock } = context;
  const { approvals, containers, entrances, groups, guard, providers, settings } = parts;
  const { services } = parts.abilities;
  const { compactions, firstPrompt } = parts.turns;
  const { queue, dueWork } = parts.work;
  const { launcher } = containers;
  const { activeTurns, pace } = parts.sessions;
  return {
    ...services,
    ...createModelNeeds(config, { store, groups, providers, firstPrompt }),
    ...createGroupNeeds(config, { groups, activeTurns, pace, launcher }),
    ...followInTurn(store.events, context.events, context.deltas),
    host: hostFacts(context),
    store,
    groups: settings.groupOperations,
    get routes() {
      return Object.keys(config.models.routes);
    },
    get totalUsdPerDay() {
      return totalUsdPerDay(config.budgets.total);
    },
    people: createPeopleView({ live: context.live, adapters: context.adapters }, context.roles),
    eraser: createEraserWhenAsked(context, { queue, pool: containers.pool, compactions }),
    pool: containers.pool,
    outbox: parts.delivery.outbox,
    admissions: parts.chats.admissions,
    taskDesk: services.tasks.book,
    approvalService: approvals.service,
    changedDescriptions: approvals.descriptions,
    reviewService: approvals.reviews.service,
    channels: entrances.channels,
    isConfigured: (channel) => Object.hasOwn(config.channels, channel),
    chatFault: (channel, chat) => chatFault(context.adapters, channel, chat),
    engine: containers.engine,
    waitingGroups: () => queue.waitingGroups(),
    refusedMounts: () => containers.launcher.refusedMounts(),
    images: containers.images,
    intake: () => guard.state(),
    config: settings.reloader,
    settings: settings.service,
    plugins: () => parts.plugins?.list() ?? [],
    nextHeartbeat: () => services.heartbeat.next(),
    outdatedSkills: () => services.skills.outdated(),
    stop,
    requeue: (turn) => requeueTurn(store, { queue, dueWork }, groups, turn),
    publish: context.publish,
    workAdded: () => dueWork.changed(),
    clock,
    forwardClock: context.forwardClock,
  };
}

function hostFacts({ config, home, clock, version }: AppContext): OperationNeeds["host"] {
  return {
    version,
    instance: home.instance,
    home: home.paths.root,
    pid: process.pid,
    startedAt: clock.now(),
    get assistant() {
      return config.assistant.name;
    },
    get models() {
      return referencesOf(config.models.routes, config.models.default);
    },
    maxHot: config.sessions.maxHot,
  };
}

/** Erases people's words. Loaded on first use. */
function createEraserWhenAsked(
  context: AppContext,
  { queue, pool, compactions }: Pick<Parameters<typeof quietGroups>[1], "queue" | "pool" | "compactions">,
): OperationNeeds["eraser"] {
  const load = memoize(async () => {
    const { createEraser } = await import("./erasure.ts");
    const { erasure } = context.store;
    return createEraser(context, (groups) => quietGroups(groups, { erasure, queue, pool, compactions }));
  });
  return { look: async (who) => (await load()).look(who), erase: async (who, by) => (await load()).erase(who, by) };
}
