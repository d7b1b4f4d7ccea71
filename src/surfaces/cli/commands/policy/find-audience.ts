import type { Adapters } from "../../../../config/adapters.ts";
import { hasTrait } from "../../../../config/adapters.ts";
import { configuredGroups } from "../../../../config/configured/groups.ts";
import { resolveGroup } from "../../../../config/resolve-group.ts";
import type { Config } from "../../../../config/schema/config.ts";
import { abilitiesOf } from "../../../../domain/settings/group-ability.ts";
import type { GroupNetwork } from "../../../../domain/sandbox/egress.ts";
import { unknownGroup } from "../../../../domain/chats/group.ts";
import type { Group } from "../../../../domain/chats/group.ts";
import { callsTools, seesImages } from "../../../../models/knowledge/capabilities.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { Audience } from "../../../../tools/registry.ts";
import type { CommandContext } from "../../context.ts";
import { listGroups } from "../../../../operations/groups/operations.ts";

/** A group, and what its agent's calls are judged by. */
export interface GroupAudience {
  readonly group: Pick<Group, "name" | "mounts">;
  readonly audience: Audience;
  /** Destinations that the group's containers can reach. */
  readonly network: GroupNetwork;
}

/** Audience of a configured or added group. Throws `not_found` for any other. */
export async function findAudience(
  context: CommandContext,
  { config, adapters }: { readonly config: Config; readonly adapters: Adapters },
  name: string,
): Promise<GroupAudience> {
  const configured = configuredGroups(config);
  const group = configured.find((one) => one.name === name) ?? (await findStored(context, configured, name));
  const settings = resolveGroup(config, { name, main: group.main });
  const audience: Audience = {
    policy: settings.policy,
    channelCan: (ability) => hasTrait({ config, adapters }, group.channel, ability),
    modelCallsTools: callsTools(config.models, group.model),
    modelSees: seesImages(config.models, group.model),
    has: abilitiesOf(settings),
  };
  return { group, audience, network: settings.network };
}

async function findStored(context: CommandContext, configured: readonly Group[], name: string): Promise<Group> {
  const known = await context.call(listGroups, {}).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "no_host") return configured;
    throw error;
  });
  const found = known.find((group) => group.name === name);
  if (found) return found;
  throw unknownGroup(
    name,
    known.map((group) => group.name),
  );
}
