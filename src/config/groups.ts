import type { GroupNetwork } from "../domain/egress.ts";
import type { BudgetLimits, Group } from "../domain/group.ts";
import { type Adapters, hasTrait } from "./adapters.ts";
import type { Config } from "./schema/config.ts";

/** The groups of `config.yaml`, with what they leave out filled in from the settings for everybody. */
export function configuredGroups(config: Config): Group[] {
  const shared = groupDefaults(config);
  return Object.entries(config.groups).map(([name, group]) => ({
    name,
    channel: group.channel,
    chat: group.chat,
    trigger: group.trigger,
    main: group.main,
    mounts: group.mounts,
    model: group.model,
    budget: {
      tokensPerDay: group.budget?.tokensPerDay ?? shared.budget.tokensPerDay,
      usdPerDay: group.budget?.usdPerDay ?? shared.budget.usdPerDay,
    },
    origin: "config",
  }));
}

/** The budget of a group that says nothing of its own, such as one that is added at run time. */
export function groupDefaults(config: Config): { readonly budget: BudgetLimits } {
  const { tokensPerDay, usdPerDay } = config.budgets.perGroup;
  return { budget: { tokensPerDay, usdPerDay } };
}

/** What the containers of a group may reach. A group that says nothing of its own is as `sandbox.network` says. */
export function networkOf(config: Config, name: string): GroupNetwork {
  const group = Object.hasOwn(config.groups, name) ? config.groups[name] : undefined;
  const network = group?.network ?? config.sandbox.network;
  const secrets = Object.entries(group?.secrets ?? {}).map(([secret, fields]) => ({ name: secret, ...fields }));
  const { allow, allowPrivate } = network === "none" ? { allow: [], allowPrivate: [] } : network;
  const entries = allow.map((entry) => (typeof entry === "string" ? { host: entry, reflects: false } : entry));
  // An entry may be there twice: what one of them says about what comes back counts.
  const reflects = entries.filter((entry) => entry.reflects).map((entry) => entry.host);
  return { allow: [...new Set(entries.map((entry) => entry.host))], allowPrivate, reflects, secrets };
}

/**
 * Groups that may have written to a folder of the machine that this one has, too. Whether two names lead to the same folder is known
 * only where they are mounted, so all count that have a shared folder which they may write to.
 */
export function writersOfShared({ groups }: Pick<Config, "groups">, name: string): readonly string[] {
  const own = Object.hasOwn(groups, name) ? groups[name] : undefined;
  if (own?.mounts.some(({ shared }) => shared) !== true) return [];
  return Object.entries(groups).flatMap(([other, { mounts }]) =>
    other !== name && mounts.some(({ shared, access }) => shared && access === "rw") ? [other] : [],
  );
}

/** How often this group's agent may be set to work. Where only the operator talks there are no other programs than the operator's own. */
export function paceLimits(
  loaded: { readonly config: Config; readonly adapters: Adapters },
  { name, channel }: Pick<Group, "name" | "channel">,
): { readonly turnsPerHour: number; readonly loopTurns: number } {
  const { config } = loaded;
  const own = Object.hasOwn(config.groups, name) ? config.groups[name]?.limits : undefined;
  const shared = hasTrait(loaded, channel, "operatorOnly") ? { turnsPerHour: 0, loopTurns: 0 } : config.limits;
  return {
    turnsPerHour: own?.turnsPerHour ?? shared.turnsPerHour,
    loopTurns: own?.loopTurns ?? shared.loopTurns,
  };
}

/** How many answers of the model one turn of this group may take; 0: any number. */
export function maxSteps(config: Config, name: string): number {
  const group = Object.hasOwn(config.groups, name) ? config.groups[name] : undefined;
  return group?.limits?.maxSteps ?? config.limits.maxSteps;
}

/** Older messages of this group are not answered after an absence. */
export function catchUpMinutes(config: Config, name: string): number {
  const group = Object.hasOwn(config.groups, name) ? config.groups[name] : undefined;
  return group?.catchUpMinutes ?? config.sessions.catchUpMinutes;
}

/**
 * What a group is shown while its agent works. `isAsked`: it says so itself; a channel that can show it only by a message of its own does
 * so only then.
 */
export function progressOf(
  config: Config,
  name: string,
): { readonly afterSeconds: number; readonly reactions: boolean; readonly isAsked: boolean } {
  const own = Object.hasOwn(config.groups, name) ? config.groups[name]?.progress : undefined;
  return {
    afterSeconds: own?.afterSeconds ?? config.progress.afterSeconds,
    reactions: own?.reactions ?? config.progress.reactions,
    isAsked: own?.afterSeconds !== undefined,
  };
}
