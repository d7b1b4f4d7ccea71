import { hasTrait } from "../config/adapters.ts";
import { configuredPeople, membersOf } from "../config/people.ts";
import { createRoles, type Roles } from "../people/roles.ts";
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
