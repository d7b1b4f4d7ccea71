import type { Group } from "../domain/group.ts";
import { type MemberId, memberKey, type Members, type Person } from "../domain/person.ts";
import { isAtLeast, type Role } from "../domain/role.ts";

export interface RolesOptions {
  readonly people: () => readonly Person[];
  /** What the configuration says of this group's members, or of those of every group; undefined: nothing. */
  readonly membersOf: (group: string) => Members | undefined;
  /** Does only the operator write on this channel? */
  readonly isOperatorOnly: (channel: string) => boolean;
}

/** Somebody's role in a group. */
export interface Standing {
  readonly role: Role;
  /** What gives it, such as `people.ann.role`, for people. */
  readonly why: string;
  /** The name that the configuration has for whoever it is. */
  readonly person: string | undefined;
}

type Question<Answer> = (group: Pick<Group, "name" | "main">, who: MemberId) => Answer;

export type RoleOf = Question<Role>;

/** Who may do what. Nothing counts but the channel and the id, exactly as the channel says it. */
export interface Roles {
  readonly roleOf: RoleOf;
  readonly standingOf: Question<Standing>;
  /** All keys of the person who has this id, this one included. */
  readonly keysOf: (who: MemberId) => readonly string[];
}

/** Looks everything up in the options each time, so that a change holds from the next question on. */
export function createRoles(options: RolesOptions): Roles {
  const standingOf: Roles["standingOf"] = (group, who) => judge(options, group, who);
  return {
    standingOf,
    roleOf: (group, who) => standingOf(group, who).role,
    keysOf: (who) => keysOf(personWith(options.people(), who), who),
  };
}

type Reason = Pick<Standing, "role" | "why">;

function judge(options: RolesOptions, group: Pick<Group, "name" | "main">, who: MemberId): Standing {
  const people = options.people();
  const person = personWith(people, who);
  const members = options.membersOf(group.name);
  const reason = byName(person, members, who) ?? byDefault(options, { people, members, group }, who);
  return { ...reason, person: person?.name };
}

/** What is said of this very person. */
function byName(person: Person | undefined, members: Members | undefined, who: MemberId): Reason | undefined {
  if (who.id === "") return { role: "guest", why: "the channel does not say who it is" };
  const ofPerson = person?.role && { role: person.role, why: `people.${person.name}.role` };
  if (ofPerson?.role === "owner") return ofPerson;
  return (members && roleIn(members, keysOf(person, who))) ?? ofPerson;
}

/** What is said of everybody else. */
function byDefault(
  { isOperatorOnly }: RolesOptions,
  {
    people,
    members,
    group,
  }: {
    readonly people: readonly Person[];
    readonly members: Members | undefined;
    readonly group: Pick<Group, "main">;
  },
  who: MemberId,
): Reason {
  if (isOperatorOnly(who.channel) && members?.default === undefined) {
    return { role: "owner", why: `only the operator writes on channel ${who.channel}` };
  }
  if (members) return { role: members.default ?? "member", why: `${members.place}.default` };
  return withoutMembers(people, group, who);
}

/** The role of the first of these keys that has one; of a person's other ids, the least. */
function roleIn({ place, byKey }: Members, [own = "", ...others]: readonly string[]): Reason | undefined {
  const given = (key: string): Reason[] => {
    const role = Object.hasOwn(byKey, key) ? byKey[key] : undefined;
    return role === undefined ? [] : [{ role, why: `${place}[${JSON.stringify(key)}]` }];
  };
  const [exact] = given(own);
  return exact ?? others.flatMap(given).toSorted((one, other) => (isAtLeast(one.role, other.role) ? 1 : -1))[0];
}

/** The operator's own group is there before anybody has a role. */
function withoutMembers(people: readonly Person[], { main }: Pick<Group, "main">, { channel }: MemberId): Reason {
  if (!main) return { role: "member", why: "everybody is a member where nothing else is configured" };
  const someone = people.find(
    ({ ids, role }) =>
      role !== undefined && isAtLeast(role, "admin") && ids.some((key) => key.startsWith(`${channel}:`)),
  );
  return someone
    ? { role: "member", why: `people says who decides on channel ${channel}` }
    : { role: "admin", why: "it is a main group, and nobody has a role" };
}

function personWith(people: readonly Person[], who: MemberId): Person | undefined {
  const key = memberKey(who);
  return people.find(({ ids }) => ids.includes(key));
}

function keysOf(person: Person | undefined, who: MemberId): readonly string[] {
  const own = memberKey(who);
  return [own, ...(person?.ids ?? []).filter((key) => key !== own)];
}
