import type { GroupNetwork } from "../domain/sandbox/egress.ts";
import type { BudgetLimits, Group, GroupChat, StoredGroup } from "../domain/chats/group.ts";
import {
  countPackages,
  type ImageWish,
  type PackageLists,
  packagesFor,
  sortPackages,
} from "../domain/sandbox/packages.ts";
import { mainAgent, type SessionVisibility } from "../domain/turns/session.ts";
import type { SkillChoice } from "../domain/sandbox/skill.ts";
import { type Adapters, hasTrait } from "./adapters.ts";
import { policyInEffect } from "./policy-in-effect.ts";
import type { Config } from "./schema/config.ts";

/**
 * What is configured for the group of this name, which may be one of those that every object has; undefined: nothing.
 */
export function entryOf({ groups }: Pick<Config, "groups">, name: string): Config["groups"][string] | undefined {
  return Object.hasOwn(groups, name) ? groups[name] : undefined;
}

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

/** Id of the agent that has what is for no other one. */
export function firstAgent({ agent = mainAgent, agents }: Pick<GroupEntry, "agent" | "agents">): string {
  return agents?.[0] ?? agent;
}

/** Ids of the agents of a group beside its first one. */
export function otherAgents(config: Pick<Config, "groups">, name: string): readonly string[] {
  return entryOf(config, name)?.agents?.slice(1) ?? [];
}

/** The budget of a group that says nothing of its own, such as one that is added at run time. */
export function groupDefaults(config: Config): { readonly budget: BudgetLimits } {
  const { tokensPerDay, usdPerDay } = config.budgets.perGroup;
  return { budget: { tokensPerDay, usdPerDay } };
}

/** What the containers of a group may reach. A group that says nothing of its own is as `sandbox.network` says. */
export function networkOf(config: Config, name: string): GroupNetwork {
  const group = entryOf(config, name);
  return toNetwork(group?.network ?? config.sandbox.network, group?.secrets ?? {});
}

/** What a `network` and `secrets` of config.yaml allow. */
export function toNetwork(
  network: Config["sandbox"]["network"],
  given: Config["groups"][string]["secrets"],
): GroupNetwork {
  const secrets = Object.entries(given).map(([secret, fields]) => ({ name: secret, ...fields }));
  const { allow, allowPrivate } = network === "none" ? { allow: [], allowPrivate: [] } : network;
  const entries = allow.map((entry) => (typeof entry === "string" ? { host: entry, reflects: false } : entry));
  // An entry may be there twice: what one of them says about what comes back counts.
  const reflects = entries.filter((entry) => entry.reflects).map((entry) => entry.host);
  return { allow: [...new Set(entries.map((entry) => entry.host))], allowPrivate, reflects, secrets };
}

/**
 * Groups that may have written to a folder of the machine that this one has, too. Whether two names lead to the same
 * folder is known only where they are mounted, so all count that have a shared folder which they may write to.
 */
export function writersOfShared({ groups }: Pick<Config, "groups">, name: string): readonly string[] {
  const own = entryOf({ groups }, name);
  if (own?.mounts.some(({ shared }) => shared) !== true) return [];
  return Object.entries(groups).flatMap(([other, { mounts }]) =>
    other !== name && mounts.some(({ shared, access }) => shared && access === "rw") ? [other] : [],
  );
}

/** Every setting of a group with the value that it has, from the group itself or from the settings for everybody. */
export function groupInEffect(
  loaded: { readonly config: Config; readonly adapters: Adapters },
  group: Group,
): Readonly<Record<string, unknown>> {
  const { config } = loaded;
  const own: Partial<Config["groups"][string]> = entryOf(config, group.name) ?? {};
  const { channel, chat, trigger, main, mounts, budget } = group;
  const { afterSeconds, reactions, answers } = progressOf(config, group.name);
  return {
    channel,
    chat,
    trigger,
    main,
    mounts,
    agent: group.agent ?? mainAgent,
    ...(group.agents && { agents: group.agents }),
    model: group.model ?? config.models.default,
    skills: skillsOf(config, group.name),
    mcp: own.mcp ?? [],
    image: own.image ?? {},
    catchUpMinutes: catchUpMinutes(config, group.name),
    policy: policyInEffect(config, own.policy),
    members: own.members ?? config.members,
    access: own.access ?? { trigger: config.access.trigger, deny: config.access.deny },
    budget,
    limits: { ...paceLimits(loaded, group), maxSteps: maxSteps(config, group.name) },
    progress: { afterSeconds, reactions, answers },
    heartbeat: own.heartbeat ?? config.heartbeat,
    timezone: timezoneOf(config, group.name),
    web: { fetch: config.web.fetch, allow: config.web.allow, ...own.web },
    network: own.network ?? config.sandbox.network,
    secrets: own.secrets ?? {},
  };
}

/** Packages that this group wants in its image; undefined: those of the agent image. */
export function packagesOf(config: Pick<Config, "groups">, name: string): PackageLists | undefined {
  const wanted = packagesFor(imageWishOf(config, name));
  return countPackages(wanted) > 0 ? wanted : undefined;
}

/** What this group says of its image. */
export function imageWishOf(config: Pick<Config, "groups">, name: string): ImageWish {
  return entryOf(config, name)?.image ?? sortPackages({});
}

/** The group's containers have a browser, or will. */
export function hasBrowser(config: Pick<Config, "groups">, name: string): boolean {
  return imageWishOf(config, name).browser === true;
}

/** Which skills this group's agent has, as far as there are any. */
export function skillsOf(config: Config, name: string): SkillChoice {
  return entryOf(config, name)?.skills ?? config.skills;
}

/**
 * How often this group's agent may be set to work. Where only the operator talks there are no other programs than the
 * operator's own.
 */
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

/**
 * Which other sessions those of the group may see; undefined: they are offered nothing of the kind. Only main groups
 * see other groups.
 */
export function sessionVisibilityOf(
  { sessions: { visibility } }: Pick<Config, "sessions">,
  { main }: Pick<Group, "main">,
): SessionVisibility | undefined {
  return visibility === "all" && !main ? "group" : visibility;
}

/** How many answers of the model one turn of this group may take; 0: any number. */
export function maxSteps(config: Config, name: string): number {
  const group = entryOf(config, name);
  return group?.limits?.maxSteps ?? config.limits.maxSteps;
}

/** By whose clocks this group lives: an IANA name. */
export function timezoneOf(config: Pick<Config, "groups" | "timezone">, name: string): string {
  return entryOf(config, name)?.timezone ?? config.timezone;
}

/** Older messages of this group are not answered after an absence. */
export function catchUpMinutes(config: Config, name: string): number {
  const group = entryOf(config, name);
  return group?.catchUpMinutes ?? config.sessions.catchUpMinutes;
}

/**
 * What a group is shown while its agent works. `isAsked`: it says so itself; a channel that can show it only by a
 * message of its own does so only then.
 */
export function progressOf(
  config: Config,
  name: string,
): {
  readonly afterSeconds: number;
  readonly reactions: boolean;
  readonly answers: boolean;
  readonly isAsked: boolean;
} {
  const own = entryOf(config, name)?.progress;
  return {
    afterSeconds: own?.afterSeconds ?? config.progress.afterSeconds,
    reactions: own?.reactions ?? config.progress.reactions,
    answers: own?.answers ?? config.progress.answers,
    isAsked: own?.afterSeconds !== undefined,
  };
}
