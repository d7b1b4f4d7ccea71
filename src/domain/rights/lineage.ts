import { type MemberId, parseMemberKey } from "../people/person.ts";
import { type Origin, sortOrigins } from "../people/origin.ts";
import { isAtLeast, type Role } from "../people/role.ts";

/**
 * The people, rights and sources behind work, a turn, or something that a turn made. It travels by value, is stored
 * with the row, and only narrows on its way: `inherit` makes a child's. It has no budget: a budget belongs to a group,
 * and whichever group does the work pays for it.
 */
export interface Lineage {
  /** The least role of all who stand behind it, when it was made: a ceiling. See `roleNow`. */
  readonly role: Role;
  /** Sources of the words that led to it, in the order of `origins`. */
  readonly origins: readonly Origin[];
  /** Everybody behind it, as `memberKey` writes them, the one with the least role first; empty: nobody is known. */
  readonly people: readonly string[];
  /** Names of the profiles that sub-agents on the way worked by. Their rules, which all deny, hold for it, too. */
  readonly narrowed: readonly string[];
}

/** Lineage of something that comes from nobody knows where. */
export const unknownLineage: Lineage = {
  role: "guest",
  origins: ["member", "guest", "file", "web"],
  people: [],
  narrowed: [],
};

/** The lineage of what comes from all of these: no wider than any of them. Without any, it is `unknownLineage`. */
export function inherit(parents: readonly Lineage[]): Lineage {
  const [first, ...others] = byRole(parents, ({ role }) => role);
  if (!first) return unknownLineage;
  if (others.length === 0) return first;
  const all = [first, ...others];
  return {
    role: first.role,
    origins: sortOrigins(all.flatMap(({ origins }) => origins)),
    people: union(all.map(({ people }) => people)),
    narrowed: union(all.map(({ narrowed }) => narrowed)).toSorted(),
  };
}

/** The same, after words of these origins were read. */
export function withOrigins(lineage: Lineage, read: readonly Origin[]): Lineage {
  return { ...lineage, origins: sortOrigins([...lineage.origins, ...read]) };
}

/** The lineage of what these people ask for together; `unknownLineage` without any. Their words are its origins. */
export function lineageOfPeople(people: readonly string[], roleOf: (who: MemberId) => Role): Lineage {
  return inherit(
    people.map((key) => {
      const role = roleOfKey(key, roleOf);
      return { role, origins: [role], people: [key], narrowed: [] };
    }),
  );
}

/**
 * Its role now: the least of its ceiling and the present roles of all people behind it. So a demotion counts, and a
 * promotion does not.
 */
export function roleNow({ role, people }: Lineage, roleOf: (who: MemberId) => Role): Role {
  return least([role, ...people.map((key) => roleOfKey(key, roleOf))]);
}

/** The same lineage with its role of now, which is what everything that begins now inherits. */
export function lineageNow(lineage: Lineage, roleOf: (who: MemberId) => Role): Lineage {
  const people = byRole(lineage.people, (key) => roleOfKey(key, roleOf));
  return { ...lineage, role: roleNow(lineage, roleOf), people };
}

/** Has the child no right that the parent lacks, and does it name all that the parent names? */
export function isNoWider(child: Lineage, parent: Lineage): boolean {
  return (
    isAtLeast(parent.role, child.role) &&
    parent.origins.every((origin) => child.origins.includes(origin)) &&
    parent.people.every((key) => child.people.includes(key)) &&
    parent.narrowed.every((profile) => child.narrowed.includes(profile))
  );
}

function roleOfKey(key: string, roleOf: (who: MemberId) => Role): Role {
  const who = parseMemberKey(key);
  return who ? roleOf(who) : "guest";
}

function least(roles: readonly [Role, ...Role[]]): Role {
  return roles.reduce((one, other) => (isAtLeast(one, other) ? other : one));
}

/** Those with the least role first; of the same role in the order in which they are given. */
function byRole<Item>(items: readonly Item[], roleOf: (item: Item) => Role): readonly Item[] {
  const ranked = items.map((item) => ({ item, role: roleOf(item) }));
  return ranked
    .toSorted((one, other) => Number(isAtLeast(one.role, other.role)) - Number(isAtLeast(other.role, one.role)))
    .map(({ item }) => item);
}

function union(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}
