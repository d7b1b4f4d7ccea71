import { type Group, unknownGroup } from "../domain/group.ts";
import type { Sender } from "../domain/message.ts";
import { type MemberId, memberKey, parseMemberKey } from "../domain/person.ts";
import type { Role } from "../domain/role.ts";
import { AppError } from "../lib/app-error.ts";
import type { PersonView } from "./operations.ts";

export interface PeopleOptions {
  readonly store: { readonly chats: { members(group: string): Promise<readonly Sender[]> } };
  readonly groups: { settings(): readonly Group[] };
  readonly people: {
    standingOf(
      group: Group,
      who: MemberId,
    ): { readonly role: Role; readonly why: string; readonly person: string | undefined };
    /** Other keys that mean this very id, or another one of theirs on its channel. */
    aliasesOf(who: MemberId): readonly string[];
    /** Who is named in the configuration, as `memberKey` writes it. */
    named(group: string): readonly string[];
  };
}

/** Whoever has written in a group or could, by what the configuration says, and what they are there. */
export async function listPeople(options: PeopleOptions, wanted: string | undefined): Promise<PersonView[]> {
  const all = options.groups.settings();
  const groups = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  if (wanted !== undefined && groups.length === 0) {
    throw unknownGroup(
      wanted,
      all.map(({ name }) => name),
    );
  }
  return (await Promise.all(groups.map((group) => peopleOf(options, group)))).flat();
}

/** Who this is. Throws `bad_input` for what is no id of a member. */
export function parsePerson(id: string): MemberId {
  const who = parseMemberKey(id);
  if (who) return who;
  throw new AppError("bad_input", `"${id}" is no id of a person.`, {
    fix: "write it as <channel>:<id>, such as http:ann; `crabpot people list` shows them",
  });
}

async function peopleOf({ store, people }: PeopleOptions, group: Group): Promise<PersonView[]> {
  const { name, channel } = group;
  const seen = await store.chats.members(name);
  const names = new Map(seen.map((sender) => [sender.id, sender.name]));
  const ids = new Set<string>();
  for (const key of people.named(name)) {
    const who = parseMemberKey(key);
    if (who?.channel === channel) ids.add(seenAs(people, who, names) ?? who.id);
  }
  for (const id of names.keys()) ids.add(id);
  return [...ids].map((id) => {
    const { role, why, person } = people.standingOf(group, { channel, id });
    return { id: memberKey({ channel, id }), name: names.get(id), person, group: name, role, why };
  });
}

/** The id by which somebody has written who is named by another one. */
function seenAs(
  people: PeopleOptions["people"],
  who: MemberId,
  seen: ReadonlyMap<string, unknown>,
): string | undefined {
  const ids = people.aliasesOf(who).map((key) => parseMemberKey(key)?.id);
  return ids.find((id) => id !== undefined && seen.has(id));
}
