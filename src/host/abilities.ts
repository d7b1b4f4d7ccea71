import { firstAbilities, otherAbilities, type ServicesOf } from "../abilities/catalog.ts";
import { RunningAbilities } from "../abilities/start-abilities.ts";
import { agentNameOf, groupWithAgent } from "../config/configured/agents.ts";
import { providerServer } from "../config/configured/media.ts";
import { namesFor } from "../config/profiles/parse-profile.ts";
import { checkProfiles } from "../config/profiles/profile-files.ts";
import type { SettingsService } from "../config/serving/settings-service.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import type { Group } from "../domain/chats/group.ts";
import type { Actor } from "../domain/people/actor.ts";
import type { Session } from "../domain/turns/session.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import type { Entrances } from "./channels.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { ProviderSet } from "../models/routes/provider-set.ts";
import { createMessageIds } from "../turns/context/message-ids.ts";
import type { SideSessions } from "../work/sessions/side-sessions.ts";
import { skillsLeftTo } from "./capabilities/profiles.ts";
import type { AppContext } from "./context.ts";
import { createConfiguredModels } from "./models.ts";

/** Starts the abilities that containers are made with. */
export async function startFirstAbilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  { groups, tell }: { readonly groups: GroupRegistry; readonly tell: TellOperator },
): Promise<ServicesOf<typeof firstAbilities> & { readonly abilities: RunningAbilities }> {
  const { config, live, adapters, home, environment, store, events, publish, clock, logger } = context;
  const abilities = new RunningAbilities(stack, {
    settings: () => config,
    onSettingsChange: (changed) => live.onChange(changed),
    subscribe: (name, handle) => events.subscribe(name, handle),
  });
  const services = await abilities.start(firstAbilities, {
    paths: home.paths,
    checkout: environment.checkout,
    variables: environment.variables,
    groups,
    skillsOf: (name: string) => live.groupOf({ name }).skills,
    agentSkillsOf: (group: Pick<Group, "name" | "agent">) => live.groupOf(group).agent.skills,
    skillsLeftTo: (session: Pick<Session, "id">) => skillsLeftTo(context, session),
    profiles: async () => {
      const checked = await checkProfiles(home.paths.agents, namesFor(live.current, adapters));
      return checked.flatMap(({ profile }) => profile ?? []);
    },
    store,
    tellOperator: (text: string) => tell({ text }),
    publish,
    clock,
    logger,
  });
  return { abilities, ...services };
}

/** Parts of the host beside the context of which the other abilities are made. */
export interface HostAbilityOptions {
  readonly groups: GroupRegistry;
  readonly sideSessions: SideSessions;
  readonly settings: Pick<SettingsService, "setGroup">;
  readonly providers: ProviderSet;
  readonly workAdded: () => void;
  readonly deliver: () => void;
  readonly tell: TellOperator;
  readonly guard: Pick<IntakeGuard, "state" | "failed">;
  readonly entrances: Pick<Entrances, "gateway">;
}

/** Starts all other abilities. */
export function startOtherAbilities(
  context: AppContext,
  abilities: RunningAbilities,
  { groups, sideSessions, settings, providers, workAdded, deliver, tell, guard, entrances }: HostAbilityOptions,
): Promise<ServicesOf<typeof otherAbilities>> {
  const { config, live, adapters, store, home, roles, fingerprint, publish, clock, forwardClock, logger } = context;
  return abilities.start(otherAbilities, {
    webOf: (name: string) => live.groupOf({ name }).web,
    heartbeatOf: (name: string) => live.groupOf({ name }).heartbeat,
    timeZoneOf: (name: string) => live.groupOf({ name }).timeZone,
    imageOf: (name: string) => live.groupOf({ name }).image,
    setImage: (group: string, value: object, actor: Actor) =>
      settings.setGroup(group, [{ path: ["image"], value }], { actor, via: "chat" }),
    timeZone: () => config.timezone,
    paths: home.paths,
    serverOfProvider: (name: string) => providerServer(config, adapters, name),
    groupWithAgent: (group: Group, agent: string) => groupWithAgent(live.current, group, agent),
    agentNameOf: ({ agent }: Pick<Group, "agent">) => agentNameOf(live.current, agent),
    messageIdOf: createMessageIds(fingerprint),
    fingerprint,
    models: createConfiguredModels(context, providers),
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
  });
}
