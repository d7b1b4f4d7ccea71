import type { Group } from "../../domain/chats/group.ts";
import { parseMemberKey, memberKey } from "../../domain/people/person.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { isAtLeast, type Role, roles } from "../../domain/people/role.ts";
import type { Work } from "../../domain/work/work.ts";
import type { RoleOf } from "./roles.ts";

/** A turn's cause: the senders of its messages, or its work. */
export interface Asked {
  readonly senders: readonly Sender[];
  readonly work?: Pick<Work, "requester" | "origin" | "role"> | undefined;
}

interface Sender {
  readonly channel: string;
  readonly id: string;
}

/**
 * Role of a turn: the least among its askers, so that speaking along gains nobody rights. For other work, the least
 * role of its maker, now and at creation. `member` when nobody is known.
 */
export function askerRole(roleOf: RoleOf, group: Pick<Group, "name" | "main">, { senders, work }: Asked): Role {
  const asking = senders.map((sender) => roleOf(group, sender));
  if (work) asking.push(makerRole(roleOf, group, work));
  if (work?.role !== undefined) asking.push(work.role);
  return asking.length === 0 ? "member" : asking.reduce((one, other) => (isAtLeast(one, other) ? other : one));
}

/** For whom a turn asks. */
export interface TurnAsker {
  readonly role: Role;
  /** The person who gives it that role, as `channel:id`, if any. */
  readonly requester: string | undefined;
  /** Origin of the words that it works by. */
  readonly origin: Origin;
}

/**
 * Role of a turn and the person who gives it. Whoever speaks along in work of somebody else gives it no more rights.
 */
export function askerOf(roleOf: RoleOf, group: Pick<Group, "name" | "main">, asked: Asked): TurnAsker {
  const role = askerRole(roleOf, group, asked);
  const least = asked.senders.find((sender) => roleOf(group, sender) === role);
  if (least) return { role, requester: memberKey(least), origin: role };
  return { role, requester: asked.work?.requester, origin: asked.work?.origin ?? "agent" };
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
