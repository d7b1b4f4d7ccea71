import { array, assert, constantFrom, property, record, shuffledSubarray, tuple } from "fast-check";
import { expect, test } from "vitest";

import { origins, sortOrigins } from "../../../../src/domain/people/origin.ts";
import { type MemberId, memberKey } from "../../../../src/domain/people/person.ts";
import { isAtLeast, type Role, roles } from "../../../../src/domain/people/role.ts";
import {
  inherit,
  isNoWider,
  type Lineage,
  lineageNow,
  lineageOfPeople,
  roleNow,
  unknownLineage,
  withOrigins,
} from "../../../../src/domain/rights/lineage.ts";

const everybody = ["http:ann", "http:bob", "whatsapp:4917@s", "terminal:me"];
const someone = shuffledSubarray(everybody);
const read = shuffledSubarray([...origins]).map(sortOrigins);
const profiles = shuffledSubarray(["reader", "writer", "scout"]).map((names) => names.toSorted());
const lineage = record({ role: constantFrom(...roles), origins: read, people: someone, narrowed: profiles });
const roleTable = tuple(...everybody.map(() => constantFrom(...roles))).map(
  (given) => (who: MemberId) => given[everybody.indexOf(memberKey(who))] ?? "guest",
);

/** All that is a set, without the order of people. */
function asSets({ people, ...rest }: Lineage): object {
  return { ...rest, people: people.toSorted() };
}

test("what comes from several is no wider than any of them", () => {
  assert(
    property(array(lineage, { minLength: 1, maxLength: 5 }), (parents) => {
      const child = inherit(parents);
      for (const parent of parents) expect(isNoWider(child, parent)).toBe(true);
    }),
  );
});

test("it names nothing that no parent names", () => {
  assert(
    property(array(lineage, { minLength: 1, maxLength: 5 }), (parents) => {
      const child = inherit(parents);
      expect(parents.some(({ role }) => role === child.role)).toBe(true);
      for (const key of child.people) expect(parents.some(({ people }) => people.includes(key))).toBe(true);
      for (const origin of child.origins) expect(parents.some((one) => one.origins.includes(origin))).toBe(true);
    }),
  );
});

test("the order in which lineages come together does not matter", () => {
  assert(
    property(lineage, lineage, lineage, (a, b, c) => {
      const stepwise = inherit([inherit([a, b]), c]);
      expect(asSets(stepwise)).toEqual(asSets(inherit([a, inherit([b, c])])));
      expect(asSets(stepwise)).toEqual(asSets(inherit([c, b, a])));
    }),
  );
});

test("inheriting the same again changes nothing", () => {
  assert(
    property(lineage, (one) => {
      expect(inherit([one, one])).toEqual(one);
    }),
  );
});

test("of nothing nobody knows anything, so it is a guest's", () => {
  expect(inherit([])).toEqual(unknownLineage);
  expect(unknownLineage.role).toBe("guest");
  expect(lineageOfPeople([], () => "owner").role).toBe("guest");
});

test("the role now is neither more than the ceiling nor more than anybody's present role", () => {
  assert(
    property(lineage, roleTable, (one, roleOf) => {
      const now = roleNow(one, roleOf);
      expect(isAtLeast(one.role, now)).toBe(true);
      for (const key of one.people) {
        const [channel = "", id = ""] = key.split(":");
        expect(isAtLeast(roleOf({ channel, id }), now)).toBe(true);
      }
      expect(lineageNow(one, roleOf).role).toBe(now);
      expect(isNoWider(lineageNow(one, roleOf), one)).toBe(true);
    }),
  );
});

test("a demotion counts, and a promotion does not", () => {
  const asked = lineageOfPeople(["http:ann"], () => "admin");
  const now = (role: Role): Role => roleNow(asked, () => role);

  expect(now("guest")).toBe("guest");
  expect(now("owner")).toBe("admin");
});

test("a person whom nobody can name is a guest", () => {
  const people = ["nobody-in-particular"];
  const unnamed = { ...unknownLineage, role: "owner" as const, people };

  expect(roleNow(unnamed, () => "owner")).toBe("guest");
});

test("people who ask together are listed with the least role first, and have no more than that", () => {
  assert(
    property(someone, roleTable, (people, roleOf) => {
      const asked = lineageOfPeople(people, roleOf);
      const ranks = asked.people.map((key) => {
        const [channel = "", id = ""] = key.split(":");
        return roles.indexOf(roleOf({ channel, id }));
      });
      expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
      expect(asked.people.toSorted()).toEqual(people.toSorted());
      expect(roles.indexOf(asked.role)).toBe(ranks[0] ?? 0);
    }),
  );
});

test("words that were read stay", () => {
  assert(
    property(lineage, read, (one, more) => {
      const after = withOrigins(one, more);
      expect(isNoWider(after, one)).toBe(true);
      for (const origin of more) expect(after.origins).toContain(origin);
    }),
  );
});
