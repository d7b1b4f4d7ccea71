import { type MemberId, memberKey, parseMemberKey, type Person } from "../../domain/people/person.ts";
import { entryOf } from "../resolve/entry.ts";
import type { Config } from "../schema/config.ts";

/** People in the configuration. */
export function configuredPeople({ people }: Pick<Config, "people">): readonly Person[] {
  return Object.entries(people).map(([name, { ids, role }]) => ({ name, ids, role }));
}

/** Setting that silences somebody with one of these keys in this group; undefined: none. */
export function deniedBy(
  config: Pick<Config, "groups" | "access">,
  group: string | undefined,
  keys: readonly string[],
): string | undefined {
  const own = group === undefined ? undefined : entryOf(config, group)?.access;
  if (keys.some((key) => config.access.deny.includes(key))) return "access.deny";
  return keys.some((key) => own?.deny.includes(key)) ? `groups.${group}.access.deny` : undefined;
}

/** True when one of these keys belongs to a person in `people`. */
export function isKnown({ people }: Pick<Config, "people">, keys: readonly string[]): boolean {
  return Object.values(people).some(({ ids }) => ids.some((id) => keys.includes(id)));
}

/** Ids on this channel that the configuration names: of people, in any `members`, in any `access.deny`. */
export function namedIds(config: Pick<Config, "people" | "members" | "access" | "groups">, channel: string): string[] {
  const { people, members, access, groups } = config;
  const keys = [
    ...Object.values(people).flatMap(({ ids }) => ids),
    ...[members, ...Object.values(groups).map((group) => group.members ?? {})].flatMap((byKey) => Object.keys(byKey)),
    ...access.deny,
    ...Object.values(groups).flatMap((group) => group.access?.deny ?? []),
  ];
  const beginning = memberKey({ channel, id: "" });
  return keys.filter((key) => key.startsWith(beginning)).map((key) => key.slice(beginning.length));
}

/**
 * Returns every id of a person: those that the configuration names together, and for each the other id that a channel
 * knows the person by.
 */
export function idsOfPerson(
  config: Pick<Config, "people">,
  who: MemberId,
  aliasesOf: (who: MemberId) => readonly string[],
): readonly MemberId[] {
  const withAliases = (key: string): readonly string[] => {
    const member = parseMemberKey(key);
    return member ? [key, ...aliasesOf(member)] : [key];
  };
  const own = new Set(withAliases(memberKey(who)));
  const named = configuredPeople(config).filter(({ ids }) =>
    ids.some((id) => withAliases(id).some((key) => own.has(key))),
  );
  const keys = new Set([...own, ...named.flatMap(({ ids }) => ids.flatMap(withAliases))]);
  return [...keys].flatMap((key) => parseMemberKey(key) ?? []);
}
