import type { GroupReadingNeeds } from "../../operations/groups/operations.ts";
import type { PeopleNeeds } from "../../operations/people/operations.ts";
import { type Adapters, hasTrait } from "../adapters.ts";
import type { LiveConfig } from "../changes/live-config.ts";
import type { Config } from "../schema/config.ts";
import { configuredPeople, deniedBy, namedIds } from "../configured/people.ts";
import { memberKey, parseMemberKey } from "../../domain/people/person.ts";
import { Aliases } from "../../rights/people/aliases.ts";
import { createAccess, type JudgeHearing } from "../../rights/people/hearing.ts";
import { createRoles, type Roles } from "../../rights/people/roles.ts";
import type { ChannelStateStore } from "../../stores/contract/store.ts";

/** The configuration, with the adapters that it was read with. */
interface ConfigWithAdapters {
  readonly config: Config;
  readonly adapters: Adapters;
}

/** The configuration that roles come from. */
interface RoleContext {
  readonly live: Pick<LiveConfig, "current" | "groupOf">;
  readonly adapters: Adapters;
}

/** Loads known aliases from the store, for channels that have them. */
export function loadAliases(state: Pick<ChannelStateStore, "list">, context: ConfigWithAdapters): Promise<Aliases> {
  const { channels } = context.adapters;
  const several = channels.map(({ name }) => name).filter((name) => hasTrait(context, name, "aliases"));
  return Aliases.load(state, channels, several);
}

/**
 * Keys of the configuration that hold only for messages that come by that very id, on channels that know people by
 * several.
 */
export async function halfKnownKeys(
  state: Pick<ChannelStateStore, "list">,
  context: ConfigWithAdapters,
): Promise<string[]> {
  const aliases = await loadAliases(state, context);
  const channels = context.adapters.channels.filter(({ name }) => hasTrait(context, name, "aliases"));
  return channels.flatMap(({ name: channel }) =>
    aliases.halfKnown(channel, namedIds(context.config, channel)).map((id) => memberKey({ channel, id })),
  );
}

/** Roles as the configuration has them at the moment of the question. */
export function createRolesOf(context: RoleContext, aliases: Aliases = new Aliases(context.adapters.channels)): Roles {
  const { live } = context;
  return createRoles({
    aliasesOf: (who) => aliases.keysOf(who),
    mayBeDenied: (group, who) => {
      const denied = live.groupOf({ name: group }).denied.flatMap((key) => parseMemberKey(key) ?? []);
      return denied.some((other) => aliases.mayBeSame(who, other));
    },
    people: () => configuredPeople(live.current),
    membersOf: (name) => live.groupOf({ name }).members,
    isOperatorOnly: (channel) => hasTrait({ ...context, config: live.current }, channel, "operatorOnly"),
  });
}

/** Returns a judge of who is heard, by the configuration at the moment of the question. */
export function createAccessOf(live: RoleContext["live"], roles: Pick<Roles, "keysOf" | "roleOf">): JudgeHearing {
  return createAccess({
    roles,
    triggerRole: (name) => live.groupOf({ name }).triggerRole,
    deniedBy: (group, keys) => deniedBy(live.current, group, keys),
  });
}

/** People as shown to operators. */
export function createPeopleView(
  context: RoleContext,
  roles: Roles = createRolesOf(context),
): (GroupReadingNeeds & PeopleNeeds)["people"] {
  const { live } = context;
  return {
    standingOf: (group, who) => roles.standingOf(group, who),
    aliasesOf: (who) => roles.aliasesOf(who),
    named: (name) => [
      ...Object.keys(live.groupOf({ name }).members?.byKey ?? {}),
      ...configuredPeople(live.current).flatMap(({ ids }) => ids),
    ],
    triggerRole: (name) => live.groupOf({ name }).triggerRole,
    members: (name) => {
      const { members } = live.groupOf({ name });
      return members ? { default: members.default, ...members.byKey } : {};
    },
  };
}
