import type { Group } from "../../domain/chats/group.ts";
import { type MemberId, memberKey, type Members, parseMemberKey, type Person } from "../../domain/people/person.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";

export interface RolesOptions {
  readonly people: () => readonly Person[];
  /** Configured members of this group, or of every group; undefined: none. */
  readonly membersOf: (group: string) => Members | undefined;
  /** True when only the operator writes on this channel. */
  readonly isOperatorOnly: (channel: string) => boolean;
  /** Other keys of this person in the configuration, as known by the channel; none by default. */
  readonly aliasesOf?: (who: MemberId) => readonly string[];
  /** True when somebody might be a denied person of this group whose ids are not known yet; false by default. */
  readonly mayBeDenied?: (group: string, who: MemberId) => boolean;
}

/** A person's role in a group. */
export interface Standing {
  readonly role: Role;
  /** Setting that gives the role, such as `people.ann.role`, for people. */
  readonly why: string;
  /** Name of the person in the configuration. */
  readonly person: string | undefined;
  /** All keys of theirs that are known, the one that was asked for first. */
  readonly keys: readonly string[];
}

type Question<Answer> = (group: Pick<Group, "name" | "main">, who: MemberId) => Answer;

export type RoleOf = Question<Role>;

/** Roles of people. Only channel and id count, exactly as reported, with the channel's known aliases. */
export interface Roles {
  readonly roleOf: RoleOf;
  readonly standingOf: Question<Standing>;
  /** All known keys of this person, configured or not. */
  readonly aliasesOf: (who: MemberId) => readonly string[];
  /** All keys of the person who has this id, this one included. */
  readonly keysOf: (who: MemberId) => readonly string[];
}

/** Looks everything up in the options each time, so that a change holds from the next question on. */
export function createRoles(options: RolesOptions): Roles {
  const standingOf: Roles["standingOf"] = (group, who) => judge(options, group, who);
  return {
    standingOf,
    roleOf: (group, who) => standingOf(group, who).role,
    aliasesOf: (who) => options.aliasesOf?.(who) ?? [],
    keysOf: (who) => whois(options, who).keys,
  };
}

type Reason = Pick<Standing, "role" | "why">;

function judge(options: RolesOptions, group: Pick<Group, "name" | "main">, who: MemberId): Standing {
  const { person, keys } = whois(options, who);
  const members = options.membersOf(group.name);
  const reason = byName(person, members, keys, who) ?? byDefault(options, { members, group }, who);
  return { ...reason, person: person?.name, keys };
}

/** Role set for this person by name. */
function byName(
  person: Person | undefined,
  members: Members | undefined,
  keys: readonly string[],
  who: MemberId,
): Reason | undefined {
  if (who.id === "") return { role: "guest", why: "the channel does not identify the person" };
  const ofPerson = person?.role && { role: person.role, why: `people.${person.name}.role` };
  if (ofPerson?.role === "owner") return ofPerson;
  return (members && roleIn(members, keys)) ?? ofPerson;
}

/** Role set for everybody else. */
function byDefault(
  options: RolesOptions,
  { members, group }: { readonly members: Members | undefined; readonly group: Pick<Group, "name" | "main"> },
  who: MemberId,
): Reason {
  if (options.isOperatorOnly(who.channel) && members?.default === undefined) {
    return { role: "owner", why: `only the operator writes on channel ${who.channel}` };
  }
  const reason: Reason = members
    ? { role: members.default ?? "member", why: `${members.place}.default` }
    : withoutMembers(options.people(), group, who);
  if (!isAtLeast(reason.role, "admin") || options.mayBeDenied?.(group.name, who) !== true) return reason;
  return { role: "member", why: "it may be a person in access.deny whose id the channel does not know yet" };
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
  if (!main) return { role: "member", why: "everybody is a member unless configured otherwise" };
  const someone = people.find(
    ({ ids, role }) =>
      role !== undefined && isAtLeast(role, "admin") && ids.some((key) => key.startsWith(`${channel}:`)),
  );
  return someone
    ? { role: "member", why: `people says who decides on channel ${channel}` }
    : { role: "admin", why: "it is a main group, and nobody has a role" };
}

/** The person with this id, and all their keys, this one first. A directly configured id wins over aliases. */
function whois(
  { people, aliasesOf = () => [] }: RolesOptions,
  who: MemberId,
): { readonly person: Person | undefined; readonly keys: readonly string[] } {
  const own = [memberKey(who), ...aliasesOf(who)];
  const all = people();
  const person = own.map((key) => all.find(({ ids }) => ids.includes(key))).find((found) => found !== undefined);
  const others = (person?.ids ?? []).flatMap((key) => {
    const other = parseMemberKey(key);
    return other ? [key, ...aliasesOf(other)] : [key];
  });
  return { person, keys: [...new Set([...own, ...others])] };
}
