import type { Group } from "../../domain/chats/group.ts";
import type { MemberId } from "../../domain/people/person.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import type { Roles } from "./roles.ts";

export interface AccessOptions {
  readonly roles: Pick<Roles, "roleOf" | "keysOf">;
  /** Least role that may address this group's agent. */
  readonly triggerRole: (group: string) => Role;
  /** Setting that silences somebody with one of these keys; undefined: none. Without a group: everywhere. */
  readonly deniedBy: (group: string | undefined, keys: readonly string[]) => string | undefined;
}

/** Attention that somebody gets: requests are obeyed, read as context, or ignored. */
export type Hearing =
  | { readonly may: "trigger" }
  | { readonly may: "speak"; readonly needed: Role }
  | { readonly may: "nothing"; readonly setting: string };

/** Judges attention in a group; `undefined`: in an unknown chat. */
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
