import { type RunningAbilities, startAbilities } from "../abilities/start-abilities.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { SideSessions } from "../work/sessions/side-sessions.ts";
import type { AppContext } from "./context.ts";

/** Starts the abilities of the catalog, with the parts of the host that they need. */
export function startHostAbilities(
  { config, live, store, home, events, publish, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  { groups, sideSessions }: { readonly groups: GroupRegistry; readonly sideSessions: SideSessions },
): Promise<RunningAbilities> {
  const needs = {
    webOf: (name: string) => live.groupOf({ name }).web,
    heartbeatOf: (name: string) => live.groupOf({ name }).heartbeat,
    timeZoneOf: (name: string) => live.groupOf({ name }).timeZone,
    totalBudget: () => config.budgets.total,
    groupsFolder: home.paths.groups,
    groups,
    sideSessions,
    store,
    publish,
    clock,
    logger,
  };
  return startAbilities(needs, stack, {
    settings: () => config,
    onSettingsChange: (changed) => live.onChange(changed),
    subscribe: (name, handle) => events.subscribe(name, handle),
  });
}
