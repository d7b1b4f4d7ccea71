import { isAtLeast, type Role } from "../people/role.ts";

/** Somebody who wants to do something with a group's thing: a member who writes in a chat, or a turn. */
export interface ActingParty {
  readonly group: string;
  /** Things of other groups are in its reach: its group is a main one, or may see all sessions. */
  readonly reachesAll: boolean;
  readonly role: Role;
  /** Everybody behind it, each with all of their keys; empty: nobody is known. */
  readonly people: readonly (readonly string[])[];
}

/** Rights that an action takes. */
export interface ActionRights {
  /** The least role for a thing of the asker's own group; absent: owners only. */
  readonly role?: Role | undefined;
  /** The least role in a main group for things of other groups; absent: they are out of reach. */
  readonly fromMain?: Role | undefined;
  /** Owners need no role. */
  readonly own?: boolean | undefined;
}

/** A task, session, sub-agent, job, memory or the like. */
export interface GroupThing {
  /** Absent: there is no such thing, or it is of all groups. */
  readonly group: string | undefined;
  /** Owners, and the role that it was made with. */
  readonly lineage?: { readonly role: Role; readonly people: readonly string[] } | undefined;
}

/** `hidden`: the asker is told the same as of a thing that does not exist. */
export type Ruling = "allowed" | "refused" | "hidden";

/**
 * Judges whether this asker may do that to this thing: the one answer for operations, chat commands and tools. An asker
 * owns a thing whose people are all of the asker's people, as long as their role has not sunk below the one that it was
 * made with; a thing without people is owned by askers without people.
 */
export function mayAct(asker: ActingParty, { role, fromMain, own = false }: ActionRights, thing: GroupThing): Ruling {
  if (thing.group !== asker.group) {
    const isReached = asker.reachesAll && fromMain !== undefined && isAtLeast(asker.role, fromMain);
    return isReached ? "allowed" : "hidden";
  }
  if (role !== undefined && isAtLeast(asker.role, role)) return "allowed";
  return own && isOwn(asker, thing) ? "allowed" : "refused";
}

function isOwn({ role, people }: ActingParty, { lineage }: GroupThing): boolean {
  if (!lineage || !isAtLeast(role, lineage.role)) return false;
  if (people.length === 0) return lineage.people.length === 0;
  return people.every((keys) => keys.some((key) => lineage.people.includes(key)));
}
