import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { memberKey, type Members, type Person } from "../../../../src/domain/people/person.ts";
import { isAtLeast, type Role, roles } from "../../../../src/domain/people/role.ts";
import { lineageOfPeople } from "../../../../src/domain/rights/lineage.ts";
import { createRoles } from "../../../../src/rights/people/roles.ts";

interface Said {
  readonly people?: readonly Person[];
  readonly members?: Omit<Members, "place">;
}

function rolesOf({ people = [], members }: Said = {}) {
  return createRoles({
    people: () => people,
    membersOf: (group) => members && { place: `groups.${group}.members`, ...members },
    isOperatorOnly: (channel) => channel === "terminal",
  });
}

const whoIs = (id: string) => ({ channel: "http", id });
const plain = { name: "family", main: false };
const main = { name: "main", main: true };
const ann = (role?: Role): Person => ({ name: "ann", ids: ["http:ann", "whatsapp:1@lid"], role });
const members = { default: "member", byKey: { "http:ben": "admin", "http:eve": "guest" } } as const;

describe("the role of somebody in a group", () => {
  test.for([
    ["everybody is a member where nothing is said", plain, "http:ann", {}, "member"],
    ["and an admin in a main group", main, "http:ann", {}, "admin"],
    ["but not where somebody has been given that", main, "http:ben", { people: [ann("owner")] }, "member"],
    ["which counts for the person's channels only", main, "other:ben", { people: [ann("owner")] }, "admin"],
    ["a person has the same role with each id", plain, "whatsapp:1@lid", { people: [ann("admin")] }, "admin"],
    ["a group's members beat the person's role", plain, "http:eve", { people: [eve("admin")], members }, "guest"],
    ["but an owner stays one", plain, "http:eve", { people: [eve("owner")], members }, "owner"],
    ["a person's role beats the default", plain, "http:ann", { people: [ann("admin")], members }, "admin"],
    ["the default is for all others", main, "http:zoe", { members: { default: "guest", byKey: {} } }, "guest"],
    ["who is a member if there is none", main, "http:zoe", { members: { default: undefined, byKey: {} } }, "member"],
    ["the same id on another channel is somebody else", plain, "whatsapp:ben", { members }, "member"],
    ["a role is given to all ids of a person", plain, "http:ann", withKey("whatsapp:1@lid", "admin"), "admin"],
    ["an id of one's own counts before others", plain, "http:ann", withKey("http:ann", "guest"), "guest"],
    ["the terminal is the operator's", plain, "terminal:ben", {}, "owner"],
    ["unless it plays somebody", plain, "terminal:eve", withKey("terminal:eve", "guest"), "guest"],
    ["whoever has no id is a guest", main, "http:", {}, "guest"],
    ["names of JavaScript are no roles", plain, "http:constructor", { members }, "member"],
  ] as const)("%s", ([, group, key, said, expected]) => {
    const [channel = "", id = ""] = key.split(":");

    expect(rolesOf(said as Said).roleOf(group, { channel, id })).toBe(expected);
  });

  test.for([
    ["whatsapp:ann"],
    ["http:Ann"],
    ["http:аnn"],
    ["http:ann "],
    ["http:ann\u200B"],
    ["http:ａnn"],
    ["htt:p:ann"],
  ])("%j is not http:ann", ([key]) => {
    const [channel = "", ...rest] = key?.split(":") ?? [];

    expect(rolesOf({ people: [ann("owner")] }).roleOf(plain, { channel, id: rest.join(":") })).toBe("member");
  });

  test("nobody but the very same id gets a role that is given by id", () => {
    const given = rolesOf({ members: { default: "guest", byKey: { "http:ann": "owner" } } });

    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (channel, id) => {
        const isSame = channel === "http" && id === "ann";
        expect(given.roleOf(plain, { channel: channel.replaceAll(":", ""), id })).toBe(isSame ? "owner" : "guest");
      }),
      { examples: [["http", "ann"]] },
    );
  });

  test("people are told what gives somebody a role", () => {
    const { standingOf } = rolesOf({ people: [ann("owner")], members });

    const whys = ["ann", "ben", "zoe"].map((id) => standingOf(plain, { channel: "http", id }).why);

    expect(whys).toEqual(["people.ann.role", 'groups.family.members["http:ben"]', "groups.family.members.default"]);
  });
});

describe("somebody whom the channel knows by several ids", () => {
  const aliases: Readonly<Record<string, readonly string[]>> = {
    "http:ann2": ["http:ann"],
    "http:eve2": ["http:eve"],
    "http:ben2": ["http:ben"],
  };
  const rolesWith = (said: Said) =>
    createRoles({
      people: () => said.people ?? [],
      membersOf: () => said.members && { place: "members", ...said.members },
      isOperatorOnly: () => false,
      aliasesOf: (who) => aliases[memberKey(who)] ?? [],
      mayBeDenied: (_group, { id }) => id === "suspect",
    });
  const aliased = (said: Said) => {
    const { standingOf, keysOf } = rolesWith(said);
    return { role: (id: string) => standingOf(plain, whoIs(id)).role, keysOf, standingOf };
  };

  test("has the role that one of them has, unless the id itself has another", () => {
    const { role, keysOf } = aliased({ people: [ann("owner")], members });

    expect([role("ann2"), role("ben2"), role("eve2"), role("zoe")]).toEqual(["owner", "admin", "guest", "member"]);
    expect(keysOf(whoIs("ann2"))).toEqual(["http:ann2", "http:ann", "whatsapp:1@lid"]);
    const own = aliased({ members: { default: undefined, byKey: { "http:ben": "admin", "http:ben2": "guest" } } });
    expect([own.role("ben2"), own.role("ben")]).toEqual(["guest", "admin"]);
  });

  test("is no admin by default while nobody can say whether it is somebody who is denied", () => {
    const { standingOf, roleOf } = rolesWith({});

    expect([roleOf(main, whoIs("suspect")), roleOf(main, whoIs("zoe"))]).toEqual(["member", "admin"]);
    expect(standingOf(main, whoIs("suspect")).why).toMatch("may be a person in access.deny");
    const named = rolesWith({ members: { default: "guest", byKey: { "http:suspect": "owner" } } });
    expect(named.roleOf(main, whoIs("suspect"))).toBe("owner");
  });
});

describe("the role of those who ask together", () => {
  const { roleOf } = rolesOf({ members });

  test.for([
    [["ben"], "admin"],
    [["ben", "zoe"], "member"],
    [["zoe", "eve", "ben"], "guest"],
    [[], "guest"],
  ] as const)("of %j is %s", ([ids, expected]) => {
    const people = ids.map((id) => memberKey(whoIs(id)));
    expect(lineageOfPeople(people, (who) => roleOf(plain, who)).role).toBe(expected);
  });
});

test("roles are in order", () => {
  for (const [index, role] of roles.entries()) {
    expect(roles.filter((other) => isAtLeast(role, other))).toEqual(roles.slice(0, index + 1));
  }
});

function eve(role: Role): Person {
  return { name: "eve", ids: ["http:eve"], role };
}

function withKey(key: string, role: Role): Said {
  return { people: [ann()], members: { default: undefined, byKey: { [key]: role } } };
}
