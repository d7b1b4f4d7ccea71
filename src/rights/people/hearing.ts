import type { Group } from "../../domain/chats/group.ts";
import type { MemberId } from "../../domain/people/person.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import type { Roles } from "./roles.ts";

export interface AccessOptions {
  readonly roles: Pick<Roles, "roleOf" | "keysOf">;
  /** From which role on somebody may set the agent of this group to work. */
  readonly triggerRole: (group: string) => Role;
  /** The setting by which somebody with one of these keys is not heard; undefined: none. Without a group: anywhere. */
  readonly deniedBy: (group: string | undefined, keys: readonly string[]) => string | undefined;
}

/** How far somebody is heard: what they want is done, or is only read along, or is not heard at all. */
export type Hearing =
  | { readonly may: "trigger" }
  | { readonly may: "speak"; readonly needed: Role }
  | { readonly may: "nothing"; readonly setting: string };

/** How far somebody is heard in a group; `undefined`: in a chat that is none. */
export type JudgeHearing = (group: Pick<Group, "name" | "main"> | undefined, who: MemberId) => Hearing;

/** Denied is denied with every id of the same person. */
export function createAccess({ roles, triggerRole, deniedBy }: AccessOptions): JudgeHearing {
  return (group, who) => {
    const setting = deniedBy(group?.name, roles.keysOf(who));
    if (setting !== undefined) return { may: "nothing", setting };
    if (!group) return { may: "trigger" };
    const needed = triggerRole(group.name);
    return isAtLeast(roles.roleOf(group, who), needed) ? { may: "trigger" } : { may: "speak", needed };
  };
}
