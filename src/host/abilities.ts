import { type AbilityServices, firstAbilities, otherAbilities, type ServicesOf } from "../abilities/catalog.ts";
import { RunningAbilities } from "../abilities/start-abilities.ts";
import { agentNameOf, groupWithAgent } from "../config/configured/agents.ts";
import type { AgentProfiles } from "../config/profiles/agent-profiles.ts";
import type { AgentGroups } from "../config/serving/agent-groups.ts";
import type { SettingsService } from "../config/serving/settings-service.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import type { Group } from "../domain/chats/group.ts";
import type { Actor } from "../domain/people/actor.ts";
import type { Session } from "../domain/turns/session.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import type { Entrances } from "./channels.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { createMessageIds } from "../turns/context/message-ids.ts";
import type { SideSessions } from "../work/sessions/side-sessions.ts";
import { providerServer } from "../config/configured/provider-servers.ts";
import type { SessionPool } from "../sandbox/pool/pool.ts";
import type { Servers } from "../sandbox/servers/servers.ts";
import type { ActiveTurns } from "../turns/active-turns.ts";
import { createTurnEnded } from "../turns/ending/turn-ended.ts";
import type { Signal } from "../lib/signal.ts";
import type { ChangedDescription } from "../rights/approvals/changed-descriptions.ts";
import { findMcpServer, mcpServers } from "../config/configured/mcp.ts";
import { estimateStepTokens } from "../turns/context/tokens.ts";
import type { QueuedSession } from "../work/queue/session-queue.ts";
import { reserveBytes } from "./storage.ts";
import type { AppContext } from "./context.ts";
import type { ConfiguredModels } from "../models/configured-models.ts";

/** Starts the abilities that containers are made with. */
export async function startFirstAbilities(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: { readonly groups: GroupRegistry; readonly profiles: AgentProfiles; readonly tell: TellOperator },
): Promise<ServicesOf<typeof firstAbilities> & { readonly abilities: RunningAbilities }> {
  const { config, live, home, environment, installed, store, events, publish, clock, logger } = context;
  const { groups, profiles, tell } = options;
  const abilities = new RunningAbilities(stack, {
    settings: () => config,
    onSettingsChange: (changed) => live.onChange(changed),
    subscribe: (name, handle) => events.subscribe(name, handle),
  });
  const services = await abilities.start(firstAbilities, {
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
  return { abilities, ...services };
}

/** Parts of the host beside the context of which the other abilities are made. */
export interface HostAbilityOptions {
  readonly agentGroups: AgentGroups;
  readonly groups: GroupRegistry;
  readonly profiles: AgentProfiles;
  readonly sideSessions: SideSessions;
  readonly settings: Pick<SettingsService, "setGroup">;
  readonly models: ConfiguredModels;
  readonly pool: SessionPool;
  readonly servers: Pick<Servers, "open">;
  /** The store whose trouble is told at once. */
  readonly direct: Pick<AppContext["store"], "usage">;
  readonly activeTurns: ActiveTurns;
  readonly skills: Pick<AbilityServices["skills"], "known">;
  readonly workAdded: () => void;
  /** Emits sessions that can go on. */
  readonly sessionReady: Signal<QueuedSession>;
  /** Emits tools of MCP servers whose descriptions have changed. */
  readonly toolsChanged: Signal<ChangedTools>;
  readonly deliver: () => void;
  readonly tell: TellOperator;
  readonly guard: Pick<IntakeGuard, "state" | "failed">;
  readonly entrances: Pick<Entrances, "gateway">;
}

/** Tools of an MCP server whose descriptions have changed since first use. */
export interface ChangedTools {
  readonly tools: readonly ChangedDescription[];
  /** The group whose server it is; undefined for a server that groups share. */
  readonly group: string | undefined;
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

/** Starts all other abilities. */
export function startOtherAbilities(
  context: AppContext,
  abilities: RunningAbilities,
  options: HostAbilityOptions,
): Promise<ServicesOf<typeof otherAbilities>> {
  const { config, live, adapters, store, home, space, installed, interception } = context;
  const { roles, fingerprint, publish, clock, forwardClock, logger } = context;
  const { activeTurns: active, groups, sideSessions, settings, pool, servers, skills, workAdded, deliver } = options;
  return abilities.start(otherAbilities, {
    ...settingsNow(live),
    setImage: (group: string, value: object, actor: Actor) =>
      settings.setGroup(group, [{ path: ["image"], value }], { actor, via: "chat" }),
    groupWithAgent: (group: Group, agent: string) => groupWithAgent(live.current, group, agent),
    agentNameOf: ({ agent }: Pick<Group, "agent">) => agentNameOf(live.current, agent),
    messageIdOf: createMessageIds(fingerprint),
    fingerprint,
    models: options.models,
    serverOfProvider: (name: string) => providerServer(config, adapters, name),
    servers: { open: interception.servers((...wanted) => servers.open(...wanted)) },
    installed,
    version: context.version,
    variables: context.environment.variables,
    askAboutTools: (changed: ChangedTools) => options.toolsChanged.emit(changed),
    blobs: context.blobs,
    reserveBytes: () => reserveBytes(live),
    usableProfile: (name: string) => options.profiles.usable(name),
    knownSkills: (group: string) => skills.known(group),
    paths: home.paths,
    groupsFolder: home.paths.groups,
    roomIn: (folder: string) => space.roomIn(folder),
    folderOfSession: (group: Group, session: Pick<Session, "key">) =>
      options.agentGroups.folderOfSession(group, session),
    estimateTokens: (text: string) => estimateStepTokens({ kind: "user", text }),
    roleOf: roles.roleOf,
    tellOperator: (text: string) => options.tell({ text }),
    groups,
    sideSessions,
    pool,
    workAdded,
    wakeSession: (queued: QueuedSession) => void options.sessionReady.emit(queued),
    turnEnded: createTurnEnded({ clock, publish }, { active, sideSessions, turnEnded: abilities.turnEnded }),
    deliver,
    intake: options.guard,
    gatewayUrl: () => options.entrances.gateway.url(),
    store,
    intakeUsage: options.direct.usage,
    publish,
    clock,
    forwardClock,
    logger,
  });
}
