import { ConfigWatch } from "../config/changes/config-watch.ts";
import type { ConfigReloader } from "../config/changes/config-reloader.ts";
import { followLogLevel } from "../config/changes/log-level.ts";
import { SettingsHistory } from "../config/changes/settings-history.ts";
import { AgentProfiles } from "../config/profiles/agent-profiles.ts";
import { AgentGroups } from "../config/serving/agent-groups.ts";
import { GroupOperations } from "../config/serving/group-operations.ts";
import { createReloader } from "../config/serving/open-reloader.ts";
import type { RunningConfig } from "../config/serving/running-config.ts";
import { ServedGroups } from "../config/serving/served-groups.ts";
import { SettingsService } from "../config/serving/settings-service.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import { reviewMounts } from "../sandbox/launch/mount-review.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import type { FoundationOptions } from "./foundation.ts";

/** All groups, with their stored settings; the settings that hold from this start on are on record. */
export async function openGroups(
  context: AppContext,
): Promise<{ readonly servedGroups: ServedGroups; readonly history: SettingsHistory }> {
  const { live, adapters, home, store, clock, logger, publish } = context;
  const history = new SettingsHistory(store.settings, clock, adapters);
  const servedGroups = await ServedGroups.open(runningConfig(context), {
    store: store.groups,
    hasMemories: async (name) => (await import("../abilities/memory/offline.ts")).hasMemories(home.paths.memory, name),
    publish,
    logger,
  });
  await history.recordStart(live.current);
  return { servedGroups, history };
}

function runningConfig({ live, adapters, home, environment, redaction }: AppContext): RunningConfig {
  return { live, adapters, home, environment, redaction };
}

/** The operator's profiles of agents, and the groups as their agents have them. */
export interface HostAgents {
  readonly profiles: AgentProfiles;
  readonly agentGroups: AgentGroups;
}

/** Opens the profiles of agents, and groups as their agents have them. */
export function openAgents({ live, adapters, home, store, logger }: AppContext): HostAgents {
  const { agents, groups } = home.paths;
  const profiles = new AgentProfiles({ live, adapters, folder: agents, subAgents: store.subAgents, logger });
  return { profiles, agentGroups: new AgentGroups({ live, folder: groups, profiles }) };
}

/** Changes of settings and groups. */
export interface HostSettings {
  readonly reloader: ConfigReloader;
  readonly service: SettingsService;
  readonly groupOperations: GroupOperations;
}

/** Settings, which change by commands and in chats; by their files as soon as these are watched. */
export function openSettings(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly started: Pick<FoundationOptions, "loaded"> & { readonly console: object | undefined };
    readonly groups: ServedGroups;
    readonly history: SettingsHistory;
    readonly containers: Pick<Containers, "images" | "pool" | "launcher" | "reviewLayers">;
    readonly tell: TellOperator;
  },
): HostSettings {
  const { live, store, clock, logger, publish } = context;
  const { started, groups, history, containers, tell } = options;
  const { images, pool, launcher, reviewLayers } = containers;
  const config = runningConfig(context);
  followLogLevel(live, logger, started.console !== undefined);
  const reviewContainers = async (): Promise<void> => {
    await images.review();
    pool.endOutdated((name) => groups.registry.byName(name));
    await reviewMounts(launcher, logger);
    // Nothing waits for it.
    void reviewLayers.removeUnneeded();
  };
  const reloader = stack.use(
    createReloader(config, {
      groups,
      history,
      reviewContainers,
      publish,
      loaded: started.loaded,
      tell: (text) => tell({ text }),
      clock,
      logger,
    }),
  );
  const changing = { groups, history, reviewContainers, publish, reloader, mounts: launcher };
  const groupOperations = new GroupOperations(live, { groups, store: store.groups, reloader, publish });
  return { reloader, service: new SettingsService(config, changing), groupOperations };
}

/** Lets changed files take effect by themselves. */
export function watchConfig({ home, logger }: AppContext, reloader: ConfigReloader): ConfigWatch {
  const files = [home.paths.config, home.paths.mounts];
  return new ConfigWatch({ files, changed: () => void reloader.reloadSoon(), logger });
}
