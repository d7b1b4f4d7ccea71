import * as z from "zod";

import { erasedKinds, type ErasureView } from "../../domain/erasure.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { Sender } from "../../domain/chats/message.ts";
import { type MemberId, memberKey, parseMemberKey } from "../../domain/people/person.ts";
import { type Role, roles } from "../../domain/people/role.ts";
import { AppError } from "../../lib/app-error.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import { visible } from "../../lib/text/visible.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { list, name, onlyGroup } from "../definition/schemas.ts";

/** The parts that know people. */
export interface PeopleNeeds {
  readonly store: { readonly chats: { members(group: string): Promise<readonly Sender[]> } };
  readonly groups: { settings(): readonly Group[] };
  readonly people: {
    standingOf(
      group: Group,
      who: MemberId,
    ): { readonly role: Role; readonly why: string; readonly person: string | undefined };
    /** Other keys that mean this very id, or another one of theirs on its channel. */
    aliasesOf(who: MemberId): readonly string[];
    /** Configured people, as `memberKey` writes them. */
    named(group: string): readonly string[];
  };
}

/** The part that erases people's words. */
export interface ErasureNeeds {
  readonly eraser: {
    look(who: MemberId): Promise<ErasureView>;
    erase(who: MemberId, actor: "operator"): Promise<ErasureView>;
  };
}

/** Somebody in a group. */
const personView = z.strictObject({
  id: z.string().describe("As `members` and `people` of the configuration have it"),
  name: z.string().optional().describe("Their own name for themselves; absent for somebody who has not written there"),
  person: z.string().optional().describe("Their name in the configuration"),
  group: z.string(),
  role: z.enum(roles),
  why: z.string().describe("What gives them the role"),
});

export type PersonView = z.infer<typeof personView>;

const erasureView = z.strictObject({
  state: z.enum(["would be erased", "erased"]),
  ids: list(z.string()),
  groups: list(z.string()),
  erased: z.partialRecord(z.enum(erasedKinds), z.number()),
  files: list(z.string()).describe("In groups' folders: files that hold words or the name of the person"),
  left: list(z.string()).describe("Other files of the home that still hold words of theirs"),
});

export const listPeople = defineOperation<PeopleNeeds>()({
  name: "people.list",
  summary: "list people who have written in groups or are named for them, and their roles",
  input: z.strictObject({ group: onlyGroup }),
  output: list(personView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /people",
  listAs: "people",
  offline: true,
  cli: {
    table: ["group", "id", { field: "name", title: "called" }, "person", "role", { field: "why", title: "because of" }],
    none: () => "Nobody has written yet.",
  },
  run: async (needs, { group: wanted }) => {
    const all = needs.groups.settings();
    const groups = wanted === undefined ? all : [requireGroup(all, wanted)];
    return (await Promise.all(groups.map((group) => peopleOf(needs, group)))).flat();
  },
});

export const showPerson = defineOperation<PeopleNeeds>()({
  name: "people.show",
  summary: "show the role of a person in a group, and what gives it",
  input: z.strictObject({ id: name.describe("as `people list` shows it"), group: name.describe("the group") }),
  output: personView,
  may: { scope: "read", role: "guest" },
  effect: "none",
  offline: true,
  cli: { args: ["id"] },
  chat: {
    form: "/whoami",
    input: (_words, { asker }) => ({ id: asker.key }),
    say: ({ id, person, role, why }, { asker, commands }) => {
      const known = person === undefined ? "" : `, known to me as ${person}`;
      const article = role === "guest" || role === "member" ? "a" : "an";
      return [
        `You are ${visible(id)}, called ${quotedName(asker.name)}${known}.`,
        `You are ${article} ${role} here: ${why}.`,
        `You can ask me, and use ${commands.map((command) => `/${command}`).join(", ")}.`,
      ].join("\n");
    },
  },
  run: async ({ store, groups, people }, { id, group: wanted }) => {
    const group = requireGroup(groups.settings(), wanted);
    const who = parsePerson(id);
    const seen = (await store.chats.members(wanted)).find((member) => member.id === who.id);
    const { role, why, person } = people.standingOf(group, who);
    return { id: memberKey(who), name: seen?.name, person, group: wanted, role, why };
  },
});

/** Shows a person's data. Rejects with `not_found`. */
export const lookAtPerson = defineOperation<ErasureNeeds>()({
  name: "people.look",
  summary: "count what there is of somebody, all of their ids included",
  input: z.strictObject({ id: name }),
  output: erasureView,
  may: { scope: "read" },
  effect: "none",
  // The id stands as a digest in the record of the erasure itself.
  record: () => ({}),
  offline: true,
  cli: "none",
  run: async ({ eraser }, { id }) => ({ state: "would be erased" as const, ...(await eraser.look(parsePerson(id))) }),
});

/** Rejects with `conflict` while a turn of theirs has not ended. */
export const erasePerson = defineOperation<ErasureNeeds>()({
  name: "people.forget",
  summary: "erase what a person (`channel:id`) said, and everything derived from it, in the whole home",
  input: z.strictObject({ id: name }),
  output: erasureView,
  may: { scope: "admin" },
  effect: "destroy",
  preview: lookAtPerson,
  isLong: true,
  offline: true,
  record: () => ({}),
  cli: { args: ["id"] },
  run: async ({ eraser }, { id }) => ({
    state: "erased" as const,
    ...(await eraser.erase(parsePerson(id), "operator")),
  }),
});

/** Parses `channel:id`. Throws `bad_input` for what is no id of a member. */
function parsePerson(id: string): MemberId {
  const who = parseMemberKey(id);
  if (who) return who;
  throw new AppError("bad_input", `"${id}" is no id of a person.`, {
    fix: "write it as <channel>:<id>, such as http:ann; `crabpot people list` shows them",
  });
}

async function peopleOf({ store, people }: PeopleNeeds, group: Group): Promise<PersonView[]> {
  const { name: groupName, channel } = group;
  const seen = await store.chats.members(groupName);
  const names = new Map(seen.map((sender) => [sender.id, sender.name]));
  const ids = new Set<string>();
  for (const key of people.named(groupName)) {
    const who = parseMemberKey(key);
    if (who?.channel === channel) ids.add(seenAs(people, who, names) ?? who.id);
  }
  for (const id of names.keys()) ids.add(id);
  return [...ids].map((id) => {
    const { role, why, person } = people.standingOf(group, { channel, id });
    return { id: memberKey({ channel, id }), name: names.get(id), person, group: groupName, role, why };
  });
}

/** The id by which a configured person has written. */
function seenAs(people: PeopleNeeds["people"], who: MemberId, seen: ReadonlyMap<string, unknown>): string | undefined {
  const ids = people.aliasesOf(who).map((key) => parseMemberKey(key)?.id);
  return ids.find((id) => id !== undefined && seen.has(id));
}

/** Operations on people. */
export const peopleOperations = [listPeople, showPerson, lookAtPerson, erasePerson] as const;
