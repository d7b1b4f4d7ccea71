import type { Group } from "../domain/group.ts";
import type { StoredMessage } from "../domain/message.ts";
import { memberKey, parseMemberKey } from "../domain/person.ts";
import { isAtLeast, type Role, roles } from "../domain/role.ts";
import type { Work } from "../domain/work.ts";
import type { RoleOf } from "./roles.ts";

/** What a turn was begun for: the messages that it answers, or work that has another cause. */
export interface Asked {
  readonly messages: readonly Pick<StoredMessage, "channel" | "sender">[];
  readonly work?: Pick<Work, "requester" | "origin"> | undefined;
}

/**
 * Whose rights a turn has: the least role among those who asked in it, so that nobody gets more by speaking along with
 * others. Of work that no message caused, the role of whoever made it. Where nobody is known, `member`.
 */
export function askerRole(roleOf: RoleOf, group: Pick<Group, "name" | "main">, { messages, work }: Asked): Role {
  const asking = messages.map(({ channel, sender }) => roleOf(group, { channel, id: sender.id }));
  if (work) asking.push(makerRole(roleOf, group, work));
  return asking.length === 0 ? "member" : asking.reduce((one, other) => (isAtLeast(one, other) ? other : one));
}

/** The role that a turn has, and who gives it that, as `channel:id`, where somebody did. */
export function askerOf(
  roleOf: RoleOf,
  group: Pick<Group, "name" | "main">,
  asked: Asked,
): { readonly role: Role; readonly requester: string | undefined } {
  const role = askerRole(roleOf, group, asked);
  const members = asked.messages.map(({ channel, sender }) => ({ channel, id: sender.id }));
  const least = members.find((member) => roleOf(group, member) === role);
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
