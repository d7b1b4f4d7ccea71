import { type RunningAbilities, startAbilities } from "../abilities/start-abilities.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import type { Entrances } from "./channels.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { SideSessions } from "../work/sessions/side-sessions.ts";
import type { AppContext } from "./context.ts";

/** Parts of the host beside the context of which abilities are made. */
export interface HostAbilityOptions {
  readonly groups: GroupRegistry;
  readonly sideSessions: SideSessions;
  readonly workAdded: () => void;
  readonly deliver: () => void;
  readonly tell: TellOperator;
  readonly guard: Pick<IntakeGuard, "state" | "failed">;
  readonly entrances: Pick<Entrances, "gateway">;
}

/** Starts the abilities of the catalog, with the parts of the host that they need. */
export function startHostAbilities(
  { config, live, store, home, roles, events, publish, clock, forwardClock, logger }: AppContext,
  stack: AsyncDisposableStack,
  { groups, sideSessions, workAdded, deliver, tell, guard, entrances }: HostAbilityOptions,
): Promise<RunningAbilities> {
  const needs = {
    webOf: (name: string) => live.groupOf({ name }).web,
    heartbeatOf: (name: string) => live.groupOf({ name }).heartbeat,
    timeZoneOf: (name: string) => live.groupOf({ name }).timeZone,
    totalBudget: () => config.budgets.total,
    groupsFolder: home.paths.groups,
    roleOf: roles.roleOf,
    tellOperator: (text: string) => tell({ text }),
    groups,
    sideSessions,
    workAdded,
    deliver,
    intake: guard,
    gatewayUrl: () => entrances.gateway.url(),
    store,
    publish,
    clock,
    forwardClock,
    logger,
  };
  return startAbilities(needs, stack, {
    settings: () => config,
    onSettingsChange: (changed) => live.onChange(changed),
    subscribe: (name, handle) => events.subscribe(name, handle),
  });
}
