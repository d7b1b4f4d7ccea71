import type { Group } from "../../domain/chats/group.ts";
import { parseMemberKey, memberKey } from "../../domain/people/person.ts";
import { isAtLeast, type Role, roles } from "../../domain/people/role.ts";
import type { Work } from "../../domain/work/work.ts";
import type { RoleOf } from "./roles.ts";

/** What a turn was begun for: whoever said the messages that it answers, or work that has another cause. */
export interface Asked {
  readonly senders: readonly Sender[];
  readonly work?: Pick<Work, "requester" | "origin" | "role"> | undefined;
}

interface Sender {
  readonly channel: string;
  readonly id: string;
}

/**
 * Whose rights a turn has: the least role among those who asked in it, so that nobody gets more by speaking along with
 * others. Of work that no message caused, the role of whoever made it, now and when it was made. Where nobody is known,
 * `member`.
 */
export function askerRole(roleOf: RoleOf, group: Pick<Group, "name" | "main">, { senders, work }: Asked): Role {
  const asking = senders.map((sender) => roleOf(group, sender));
  if (work) asking.push(makerRole(roleOf, group, work));
  if (work?.role !== undefined) asking.push(work.role);
  return asking.length === 0 ? "member" : asking.reduce((one, other) => (isAtLeast(one, other) ? other : one));
}

/** The role that a turn has, and who gives it that, as `channel:id`, where somebody did. */
export function askerOf(
  roleOf: RoleOf,
  group: Pick<Group, "name" | "main">,
  asked: Asked,
): { readonly role: Role; readonly requester: string | undefined } {
  const role = askerRole(roleOf, group, asked);
  const least = asked.senders.find((sender) => roleOf(group, sender) === role);
  return { role, requester: least ? memberKey(least) : asked.work?.requester };
}

function makerRole(
  roleOf: RoleOf,
  group: Pick<Group, "name" | "main">,
  { requester, origin }: NonNullable<Asked["work"]>,
): Role {
  if (requester !== undefined) {
    const who = parseMemberKey(requester);
    return who ? roleOf(group, who) : "guest";
  }
  return roles.find((role) => role === origin) ?? "member";
}
