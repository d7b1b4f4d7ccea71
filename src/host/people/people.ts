import { hasTrait } from "../../config/adapters.ts";
import { configuredPeople, deniedBy, namedIds } from "../../config/configured/people.ts";
import { memberKey, parseMemberKey } from "../../domain/people/person.ts";
import { Aliases } from "../../rights/people/aliases.ts";
import { createAccess, type JudgeHearing } from "../../rights/people/hearing.ts";
import { createRoles, type Roles } from "../../rights/people/roles.ts";
import type { ChannelStateStore } from "../../stores/contract/store.ts";
import type { OfflineNeeds } from "../../surfaces/operations.ts";
import type { AppContext } from "../context.ts";

/** Loads known aliases from the store, for channels that have them. */
export function loadAliases(
  state: Pick<ChannelStateStore, "list">,
  context: Pick<AppContext, "config" | "adapters">,
): Promise<Aliases> {
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
  context: Pick<AppContext, "config" | "adapters">,
): Promise<string[]> {
  const aliases = await loadAliases(state, context);
  const channels = context.adapters.channels.filter(({ name }) => hasTrait(context, name, "aliases"));
  return channels.flatMap(({ name: channel }) =>
    aliases.halfKnown(channel, namedIds(context.config, channel)).map((id) => memberKey({ channel, id })),
  );
}

/** The configuration that roles come from. */
type RoleContext = Pick<AppContext, "live" | "adapters">;

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

/** The same for who is heard. */
export function createAccessOf({ live, roles }: Pick<AppContext, "live" | "roles">): JudgeHearing {
  return createAccess({
    roles,
    triggerRole: (name) => live.groupOf({ name }).triggerRole,
    deniedBy: (group, keys) => deniedBy(live.current, group, keys),
  });
}

/** People as shown to operators. */
export function createPeopleView(context: RoleContext, roles: Roles = createRolesOf(context)): OfflineNeeds["people"] {
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
