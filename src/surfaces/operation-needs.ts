import { agentNameOf } from "../config/configured/agents.ts";
import { budgetOf } from "../config/configured/budgets.ts";
import type { Config } from "../config/schema/config.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { describeRest } from "../intake/limits/resting-notice.ts";
import type { TurnPace } from "../intake/limits/turn-pace.ts";
import { costOfReference, knownModels } from "../models/knowledge/capabilities.ts";
import { forgetLearned } from "../models/knowledge/learned-models.ts";
import type { ProviderSet } from "../models/routes/provider-set.ts";
import { allReferences, referencesOf } from "../models/routes/routes.ts";
import { requireGroup } from "../operations/lookup/require-group.ts";
import type { ContainerLauncher } from "../sandbox/launch/launcher.ts";
import type { Store } from "../stores/contract/store.ts";
import type { ActiveTurns } from "../turns/active-turns.ts";
import { type FirstPrompt, roomByConfig, viewContext } from "../turns/conversation/view-context.ts";
import type { OperationNeeds } from "./operations.ts";

type ModelNeed = "viewContext" | "costOf" | "models" | "modelRoutes" | "modelsOf" | "budgetOf" | "forgetLearned";

/** Models for operations: what they are shown, and what they may cost. */
export function createModelNeeds(
  config: Config,
  options: {
    readonly store: Store;
    readonly groups: Pick<GroupRegistry, "byName">;
    readonly providers: Pick<ProviderSet, "calibration">;
    readonly firstPrompt: FirstPrompt;
  },
): Pick<OperationNeeds, ModelNeed> {
  const { store, groups, providers, firstPrompt } = options;
  const roomOf = (route: string | undefined) => roomByConfig(config.models, route);
  return {
    viewContext: (session, how) => viewContext({ store, roomOf, firstPrompt }, session, how),
    costOf: (reference, usage) => costOfReference(config.models, reference, usage),
    models: knownModels(() => config.models),
    modelRoutes: { all: () => allReferences(config.models.routes), usual: () => config.models.default },
    modelsOf: (route) => referencesOf(config.models.routes, route ?? config.models.default),
    budgetOf: (group) => budgetOf(config, group === undefined ? undefined : groups.byName(group)),
    forgetLearned: (models) => forgetLearned(store, providers, models),
  };
}

/** The present state of groups and their agents for operations. */
export function createGroupNeeds(
  config: Config,
  options: {
    readonly groups: Pick<GroupRegistry, "list">;
    readonly activeTurns: Pick<ActiveTurns, "isActive">;
    readonly pace: Pick<TurnPace, "resting">;
    readonly launcher: Pick<ContainerLauncher, "judgeWanted">;
  },
): Pick<OperationNeeds, "isActive" | "agentNameOf" | "restOf" | "mounts"> {
  const { groups, activeTurns, pace, launcher } = options;
  return {
    isActive: (group, session) => activeTurns.isActive(group, session),
    agentNameOf: (agent) => agentNameOf(config, agent),
    restOf: (group) => {
      const resting = pace.resting(group);
      return resting && describeRest(resting);
    },
    mounts: { judge: async (name) => launcher.judgeWanted(requireGroup(groups.list(), name)) },
  };
}
