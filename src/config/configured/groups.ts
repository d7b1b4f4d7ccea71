import type { BudgetLimits, Group, GroupChat, StoredGroup } from "../../domain/chats/group.ts";
import { mainAgent } from "../../domain/turns/session.ts";
import { type Adapters, hasTrait } from "../adapters.ts";
import { policyInEffect } from "../policy-in-effect.ts";
import { entryOf, firstAgent } from "../resolve/entry.ts";
import { resolveGroup } from "../resolve-group.ts";
import type { Config } from "../schema/config.ts";

/** The groups of `config.yaml`, with what they leave out filled in from the settings for everybody. */
export function configuredGroups(config: Config, added: ReadonlySet<string> = new Set()): Group[] {
  return Object.entries(config.groups)
    .filter(([name]) => !added.has(name))
    .map(([name, group]) => groupOf(config, { ...group, name }, "config"));
}

/**
 * A group that was added at run time, as it is by what it says itself and by the settings for everybody. What it says
 * beyond who is to be answered stands in the configuration: see `withAddedGroups`.
 */
export function storedGroup(config: Config, { name, channel, chat, settings }: StoredGroup): Group {
  const trigger = settings["trigger"] === "always" ? "always" : "mention";
  const model = typeof settings["model"] === "string" ? settings["model"] : undefined;
  const plain = { trigger, main: settings["main"] === true, mounts: [], model } as const;
  const said = entryOf(config, name);
  return groupOf(config, { ...(said ?? plain), name, channel, chat }, "store");
}

type GroupEntry = Pick<Group, "trigger" | "main" | "mounts"> &
  Partial<Pick<Config["groups"][string], "agent" | "agents" | "model" | "policy" | "budget">>;

function groupOf(config: Config, group: GroupEntry & GroupChat, origin: Group["origin"]): Group {
  const shared = groupDefaults(config);
  const { name, channel, chat, trigger, main, mounts, agents = [] } = group;
  const agent = firstAgent(group);
  return {
    name,
    channel,
    chat,
    trigger,
    main,
    mounts,
    agent: agent === mainAgent ? undefined : agent,
    agents: agents.length > 1 ? agents : undefined,
    model: group.model ?? (Object.hasOwn(config.agents, agent) ? config.agents[agent]?.route : undefined),
    budget: {
      tokensPerDay: group.budget?.tokensPerDay ?? shared.budget.tokensPerDay,
      usdPerDay: group.budget?.usdPerDay ?? shared.budget.usdPerDay,
    },
    origin,
  };
}

/** Budget of a group without one, such as one added at run time. */
export function groupDefaults(config: Config): { readonly budget: BudgetLimits } {
  const { tokensPerDay, usdPerDay } = config.budgets.perGroup;
  return { budget: { tokensPerDay, usdPerDay } };
}

/** Every setting of a group with the value that it has, from the group itself or from the settings for everybody. */
export function groupInEffect(
  loaded: { readonly config: Config; readonly adapters: Adapters },
  group: Group,
): Readonly<Record<string, unknown>> {
  const { config } = loaded;
  const own: Partial<Config["groups"][string]> = entryOf(config, group.name) ?? {};
  const { channel, chat, trigger, main, mounts, budget } = group;
  const resolved = resolveGroup(config, group);
  const { afterSeconds, reactions, answers } = resolved.progress;
  return {
    channel,
    chat,
    trigger,
    main,
    mounts,
    agent: group.agent ?? mainAgent,
    ...(group.agents && { agents: group.agents }),
    model: group.model ?? config.models.default,
    skills: resolved.skills,
    mcp: own.mcp ?? [],
    image: own.image ?? {},
    catchUpMinutes: resolved.turns.catchUpMinutes,
    policy: policyInEffect(config, own.policy),
    members: own.members ?? config.members,
    access: own.access ?? { trigger: config.access.trigger, deny: config.access.deny },
    budget,
    limits: { ...paceLimits(loaded, group), maxSteps: resolved.turns.maxSteps },
    progress: { afterSeconds, reactions, answers },
    heartbeat: own.heartbeat ?? config.heartbeat,
    timezone: resolved.timeZone,
    web: { fetch: config.web.fetch, allow: config.web.allow, ...own.web },
    network: own.network ?? config.sandbox.network,
    secrets: own.secrets ?? {},
  };
}

/** Limits of this group's turns. None by default where only the operator talks. */
export function paceLimits(
  loaded: { readonly config: Config; readonly adapters: Adapters },
  { name, channel }: Pick<Group, "name" | "channel">,
): { readonly turnsPerHour: number; readonly loopTurns: number } {
  const { config } = loaded;
  const own = entryOf(config, name)?.limits;
  const shared = hasTrait(loaded, channel, "operatorOnly") ? { turnsPerHour: 0, loopTurns: 0 } : config.limits;
  return {
    turnsPerHour: own?.turnsPerHour ?? shared.turnsPerHour,
    loopTurns: own?.loopTurns ?? shared.loopTurns,
  };
}
