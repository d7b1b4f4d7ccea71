import { hasTrait } from "../config/adapters.ts";
import type { Group } from "../domain/group.ts";
import type { Provenance } from "../domain/policy.ts";
import { isAtLeast, type Role, roles } from "../domain/role.ts";
import type { Store } from "../stores/store.ts";
import type { RoleOf } from "../turns/steps/message-origins.ts";
import type { AppContext } from "./context.ts";

/** Whoever writes where only the operator does is the operator; the operator's own group is for admins, all others for members. */
export function createRoleOf(context: Pick<AppContext, "config" | "adapters">): RoleOf {
  return (group, { channel }) => {
    if (hasTrait(context, channel, "operatorOnly")) return "owner";
    return group.main ? "admin" : "member";
  };
}

/** For whom a turn asks, by all who have asked in it so far, and what it has read by now. */
export async function provenanceOf(
  {
    store,
    roleOf,
  }: {
    readonly store: {
      readonly messages: Pick<Store["messages"], "ofTurn">;
      readonly work: Pick<Store["work"], "ofTurn">;
      readonly origins: Pick<Store["origins"], "ofTurn">;
    };
    readonly roleOf: RoleOf;
  },
  group: Group,
  turn: string,
): Promise<Provenance> {
  const [messages, work, origins] = await Promise.all([
    store.messages.ofTurn(turn),
    store.work.ofTurn(turn),
    store.origins.ofTurn(turn),
  ]);
  const asking = messages.map(({ channel, sender }) => roleOf(group, { channel, id: sender.id }));
  if (work) asking.push(roles.find((role) => role === work.origin) ?? "member");
  return { role: leastOf(asking), origins };
}

/** Where nobody is known, a member. */
function leastOf(asking: readonly Role[]): Role {
  return asking.reduce((one, other) => (isAtLeast(one, other) ? other : one), asking[0] ?? "member");
}
