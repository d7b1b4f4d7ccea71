import { hasTrait } from "../config/adapters.ts";
import { configuredPeople, deniedBy, membersOf, triggerRole } from "../config/people.ts";
import { createAccess, type JudgeHearing } from "../people/hearing.ts";
import { createRoles, type Roles } from "../people/roles.ts";
import type { createReadings } from "../operations/readings.ts";
import type { AppContext } from "./context.ts";

/** Roles as the configuration has them at the moment of the question. */
export function createRolesOf(context: Pick<AppContext, "config" | "adapters">): Roles {
  const { config } = context;
  return createRoles({
    people: () => configuredPeople(config),
    membersOf: (group) => membersOf(config, group),
    isOperatorOnly: (channel) => hasTrait(context, channel, "operatorOnly"),
  });
}

/** The same for who is heard. */
export function createAccessOf({ config, roles }: Pick<AppContext, "config" | "roles">): JudgeHearing {
  return createAccess({
    roles,
    triggerRole: (group) => triggerRole(config, group),
    deniedBy: (group, keys) => deniedBy(config, group, keys),
  });
}

/** What operators are shown of it. */
export function createPeopleView(
  context: Pick<AppContext, "config" | "adapters">,
  roles: Roles = createRolesOf(context),
): Parameters<typeof createReadings>[0]["people"] {
  const { config } = context;
  return {
    standingOf: (group, who) => roles.standingOf(group, who),
    named: (group) => [
      ...Object.keys(membersOf(config, group)?.byKey ?? {}),
      ...configuredPeople(config).flatMap(({ ids }) => ids),
    ],
    triggerRole: (group) => triggerRole(config, group),
    members: (group) => {
      const members = membersOf(config, group);
      return members ? { default: members.default, ...members.byKey } : {};
    },
  };
}
