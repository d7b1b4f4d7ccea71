import { chatFault } from "../config/adapters.ts";
import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { AbilityServices } from "../abilities/catalog.ts";
import type { TurnPace } from "../intake/limits/turn-pace.ts";
import type { ActiveTurns } from "../turns/active-turns.ts";
import { referencesOf } from "../models/routes/routes.ts";
import type { ProviderSet } from "../models/routes/provider-set.ts";
import { createGroupNeeds, createModelNeeds } from "../surfaces/operation-needs.ts";
import type { OperationNeeds } from "../surfaces/operations.ts";
import { totalUsdPerDay } from "../domain/turns/usage.ts";
import { memoize } from "../lib/memoize.ts";
import { followInTurn } from "../records/events/read-in-turn.ts";
import type { DueWork } from "../work/queue/due-work.ts";
import { requeueTurn } from "../work/queue/requeue-turn.ts";
import type { SessionQueue } from "../work/queue/session-queue.ts";
import type { Admissions } from "../intake/chats/admissions.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { IntakeState } from "../channels/channel.ts";
import type { Approvals } from "./approvals.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import type { Entrances } from "./channels.ts";
import type { FirstPrompt } from "../turns/conversation/view-context.ts";
import { createPeopleView } from "../config/serving/people.ts";
import type { GroupOperations } from "../config/serving/group-operations.ts";
import type { SettingsService } from "../config/serving/settings-service.ts";
import type { Compactions } from "../turns/compaction/compactions.ts";
import { quietGroups } from "../work/quiet-groups.ts";

export interface HostOperationOptions {
  readonly groups: GroupRegistry;
  readonly containers: Containers;
  readonly entrances: Entrances;
  readonly queue: SessionQueue;
  readonly dueWork: DueWork;
  readonly outbox: Outbox;
  readonly intake: () => IntakeState;
  readonly stop: () => void;
  readonly abilities: AbilityServices;
  readonly settings: SettingsService;
  readonly groupOperations: GroupOperations;
  readonly admissions: Pick<Admissions, "approve" | "deny">;
  readonly approvals: Pick<Approvals, "descriptions" | "service">;
  readonly reloader: Pick<ConfigReloader, "state" | "reload" | "diff">;
  readonly providers: Pick<ProviderSet, "calibration">;
  readonly plugins?: Plugins | undefined;
  readonly compactions: Pick<Compactions, "hold">;
  readonly firstPrompt: FirstPrompt;
  readonly activeTurns: Pick<ActiveTurns, "isActive">;
  readonly pace: Pick<TurnPace, "resting">;
}

/** The parts of the host that operations work with. */
export function operationNeeds(context: AppContext, options: HostOperationOptions): OperationNeeds {
  const { config, store, clock } = context;
  const { activeTurns, containers, entrances, firstPrompt, groups, pace, providers, queue } = options;
  return {
    ...options.abilities,
    ...createModelNeeds(config, { store, groups, providers, firstPrompt }),
    ...createGroupNeeds(config, { groups, activeTurns, pace, launcher: containers.launcher }),
    ...followInTurn(store.events, context.events, context.deltas),
    host: hostFacts(context),
    store,
    groups: options.groupOperations,
    get routes() {
      return Object.keys(config.models.routes);
    },
    get totalUsdPerDay() {
      return totalUsdPerDay(config.budgets.total);
    },
    people: createPeopleView({ live: context.live, adapters: context.adapters }, context.roles),
    eraser: createEraserWhenAsked(context, { queue, pool: containers.pool, compactions: options.compactions }),
    pool: containers.pool,
    outbox: options.outbox,
    admissions: options.admissions,
    taskDesk: options.abilities.tasks.book,
    approvalService: options.approvals.service,
    changedDescriptions: options.approvals.descriptions,
    channels: entrances.channels,
    isConfigured: (channel) => Object.hasOwn(config.channels, channel),
    chatFault: (channel, chat) => chatFault(context.adapters, channel, chat),
    engine: containers.engine,
    waitingGroups: () => queue.waitingGroups(),
    refusedMounts: () => containers.launcher.refusedMounts(),
    images: containers.images,
    intake: options.intake,
    config: options.reloader,
    settings: options.settings,
    plugins: () => options.plugins?.list() ?? [],
    nextHeartbeat: () => options.abilities.heartbeat.next(),
    outdatedSkills: () => options.abilities.skills.outdated(),
    stop: options.stop,
    requeue: (turn) => requeueTurn(store, { queue, dueWork: options.dueWork }, groups, turn),
    publish: context.publish,
    workAdded: () => options.dueWork.changed(),
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
  options: Pick<Parameters<typeof quietGroups>[1], "queue" | "pool" | "compactions">,
): OperationNeeds["eraser"] {
  const load = memoize(async () => {
    const { createEraser } = await import("./erasure.ts");
    const { erasure } = context.store;
    return createEraser(context, (groups) => quietGroups(groups, { erasure, ...options }));
  });
  return { look: async (who) => (await load()).look(who), erase: async (who, by) => (await load()).erase(who, by) };
}
