import type { Group } from "../../domain/chats/group.ts";
import { parseMemberKey, type Person } from "../../domain/people/person.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { RoleOf } from "./roles.ts";

export interface PresenceOptions {
  readonly chats: Pick<Store["chats"], "get">;
  readonly people: () => readonly Person[];
  /** Keys of the members that are configured for a group. */
  readonly memberKeys: (group: string) => readonly string[];
  readonly roleOf: RoleOf;
}

/** An impossible id, for a person who is not configured. */
const anybody = "\n";

/**
 * Looks whether somebody with a role is in a group's chat; where its members are unknown, anyone with the role on its
 * channel counts.
 */
export function createPresence(options: PresenceOptions): (group: Group, role: Role) => Promise<boolean> {
  const { chats, people, memberKeys, roleOf } = options;
  return async (group, role) => {
    const { channel } = group;
    const known = (await chats.get(channel, group.chat))?.members?.map(({ id }) => id);
    const keys = [...people().flatMap(({ ids }) => ids), ...memberKeys(group.name)];
    const named = keys.flatMap((key) => parseMemberKey(key) ?? []).filter((who) => who.channel === channel);
    const ids = known ?? [...named.map(({ id }) => id), anybody];
    return ids.some((id) => isAtLeast(roleOf(group, { channel, id }), role));
  };
}
