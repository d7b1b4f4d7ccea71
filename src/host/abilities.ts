import {
  type AbilityServices,
  firstAbilities,
  type NeedsOfAll,
  otherAbilities,
  type ServicesOf,
} from "../abilities/catalog.ts";
import { RunningAbilities } from "../abilities/start-abilities.ts";
import { createAccessOf } from "../config/serving/people.ts";
import { agentNameOf, groupWithAgent } from "../config/configured/agents.ts";
import type { AgentProfiles } from "../config/profiles/agent-profiles.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import type { Group } from "../domain/chats/group.ts";
import type { Actor } from "../domain/people/actor.ts";
import type { Session } from "../domain/turns/session.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { createMessageIds } from "../turns/context/message-ids.ts";
import { providerServer } from "../config/configured/provider-servers.ts";
import { createTurnEnded } from "../turns/ending/turn-ended.ts";
import { findMcpServer, mcpServers } from "../config/configured/mcp.ts";
import { estimateStepTokens } from "../turns/context/tokens.ts";
import type { QueuedSession } from "../work/queue/session-queue.ts";
import { reserveBytes } from "./storage.ts";
import type { AppContext, ChangedTools, HostSignals } from "./context.ts";
import type { ConfiguredModels } from "../models/configured-models.ts";
import { GroupTools } from "../tools/group-tools.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { Entrances, HostDelivery } from "./channels.ts";
import type { Containers, HostSessions } from "./containers.ts";
import type { HostAgents, HostSettings } from "./settings.ts";

/** The abilities of a running host. */
export interface HostAbilities {
  readonly running: RunningAbilities;
  readonly services: AbilityServices;
  /** Tools of the host, with those that abilities give to single groups. */
  readonly tools: GroupTools;
}

/** The running abilities that containers are made with. */
interface FirstAbilities {
  readonly running: RunningAbilities;
  readonly services: ServicesOf<typeof firstAbilities>;
}

/** Starts the abilities that containers are made with. */
export async function startFirstAbilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: { readonly groups: GroupRegistry; readonly profiles: AgentProfiles; readonly tell: TellOperator },
): Promise<FirstAbilities> {
  const { config, live, home, environment, installed, store, events, publish, clock, logger } = context;
  const { groups, profiles, tell } = options;
  const running = new RunningAbilities(stack, {
    settings: () => config,
    onSettingsChange: (changed) => live.onChange(changed),
    subscribe: (name, handle) => events.subscribe(name, handle),
  });
  const services = await running.start(firstAbilities, {
    paths: home.paths,
    checkout: environment.checkout,
    installed,
    variables: environment.variables,
    groups,
    skillsOf: (name: string) => live.groupOf({ name }).skills,
    agentSkillsOf: (group: Pick<Group, "name" | "agent">) => live.groupOf(group).agent.skills,
    skillsLeftTo: (session: Pick<Session, "id">) => profiles.skillsLeftTo(session),
    profiles: () => profiles.list(),
    store,
    tellOperator: (text: string) => tell({ text }),
    publish,
    clock,
    logger,
  });
  return { running, services };
}

/** Parts of the host beside the context of which the other abilities are made. */
interface OtherAbilityParts {
  readonly agents: HostAgents;
  readonly containers: Pick<Containers, "pool" | "servers">;
  readonly delivery: HostDelivery;
  readonly entrances: Pick<Entrances, "gateway">;
  readonly groups: GroupRegistry;
  readonly guard: Pick<IntakeGuard, "state" | "failed">;
  readonly models: ConfiguredModels;
  readonly sessions: HostSessions;
  readonly settings: HostSettings;
  readonly signals: HostSignals;
}

/** Settings as they are now. */
function settingsNow(live: AppContext["live"]) {
  return {
    webOf: (name: string) => live.groupOf({ name }).web,
    heartbeatOf: (name: string) => live.groupOf({ name }).heartbeat,
    timeZoneOf: (name: string) => live.groupOf({ name }).timeZone,
    imageOf: (name: string) => live.groupOf({ name }).image,
    jobLimitsOf: (name: string) => live.groupOf({ name }).jobs,
    mcpServersOf: (name: string) => live.groupOf({ name }).mcpServers,
    mcpServers: () => mcpServers(live.current),
    findMcpServer: (name: string) => findMcpServer(live.current, name),
    modelSettings: () => live.current.models,
    subAgentLimits: () => live.current.limits.subAgents,
    budgets: () => live.current.budgets,
    totalBudget: () => live.current.budgets.total,
    timeZone: () => live.current.timezone,
  };
}

/** Starts all other abilities, and opens their tools. */
export async function startOtherAbilities(
  context: AppContext,
  first: FirstAbilities,
  parts: OtherAbilityParts,
): Promise<HostAbilities> {
  const { running, services } = first;
  const others = await running.start(otherAbilities, otherNeeds(context, first, parts));
  const tools = new GroupTools(new ToolRegistry(context.adapters.tools), running.toolSources);
  return { running, services: { ...services, ...others }, tools };
}

function otherNeeds(
  context: AppContext,
  { running, services: { skills } }: FirstAbilities,
  { agents, containers, delivery, entrances, groups, guard, models, sessions, settings, signals }: OtherAbilityParts,
): NeedsOfAll<typeof otherAbilities> {
  const { config, live, adapters, home, space, installed, interception } = context;
  const { roles, fingerprint, clock, forwardClock, logger } = context;
  const { deliver, tell } = delivery;
  const { store, publish } = delivery.patient;
  const { activeTurns: active, sideSessions } = sessions;
  const { pool, servers } = containers;
  const workAdded = (): void => void signals.workAdded.emit();
  return {
    ...settingsNow(live),
    setImage: (group: string, value: object, actor: Actor) =>
      settings.service.setGroup(group, [{ path: ["image"], value }], { actor, via: "chat" }),
    groupWithAgent: (group: Group, agent: string) => groupWithAgent(live.current, group, agent),
    agentNameOf: ({ agent }: Pick<Group, "agent">) => agentNameOf(live.current, agent),
    messageIdOf: createMessageIds(fingerprint),
    fingerprint,
    models,
    serverOfProvider: (name: string) => providerServer(config, adapters, name),
    servers: { open: interception.servers((...wanted) => servers.open(...wanted)) },
    installed,
    version: context.version,
    variables: context.environment.variables,
    askAboutTools: (changed: ChangedTools) => signals.toolsChanged.emit(changed),
    blobs: context.blobs,
    reserveBytes: () => reserveBytes(live),
    usableProfile: (name: string) => agents.profiles.usable(name),
    knownSkills: (group: string) => skills.known(group),
    paths: home.paths,
    groupsFolder: home.paths.groups,
    roomIn: (folder: string) => space.roomIn(folder),
    folderOfSession: (group: Group, session: Pick<Session, "key">) =>
      agents.agentGroups.folderOfSession(group, session),
    estimateTokens: (text: string) => estimateStepTokens({ kind: "user", text }),
    roleOf: roles.roleOf,
    hearingOf: createAccessOf(live, roles),
    tellOperator: (text: string) => tell({ text }),
    groups,
    sideSessions,
    pool,
    workAdded,
    wakeSession: (queued: QueuedSession) => void signals.sessionReady.emit(queued),
    turnEnded: createTurnEnded({ clock, publish }, { active, sideSessions, turnEnded: running.turnEnded }),
    deliver,
    intake: guard,
    gatewayUrl: () => entrances.gateway.url(),
    store,
    // Its trouble is told at once.
    intakeUsage: context.store.usage,
    publish,
    clock,
    forwardClock,
    logger,
  };
}
