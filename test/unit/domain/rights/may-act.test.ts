import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isAtLeast, roles } from "../../../../src/domain/people/role.ts";
import { type ActionRights, type ActingParty, type GroupThing, mayAct } from "../../../../src/domain/rights/may-act.ts";

const role = fc.constantFrom(...roles);
const group = fc.constantFrom("main", "a", "b");
const key = fc.constantFrom("http:ann", "http:bob", "http:gus");
const someAsker: fc.Arbitrary<ActingParty> = fc
  .record({ group, role, people: fc.array(fc.array(key, { minLength: 1, maxLength: 2 }), { maxLength: 3 }) })
  .map((asker) => ({ ...asker, reachesAll: asker.group === "main" }));
const more = fc.record({ one: fc.array(key, { minLength: 1 }), lesser: role });
const someRights: fc.Arbitrary<ActionRights> = fc.record({
  role: fc.option(role, { nil: undefined }),
  fromMain: fc.option(role, { nil: undefined }),
  own: fc.boolean(),
});
const someThing: fc.Arbitrary<GroupThing> = fc.record({
  group: fc.option(group, { nil: undefined }),
  lineage: fc.option(fc.record({ role, people: fc.array(key, { maxLength: 2 }) }), { nil: undefined }),
});

test("nobody does anything to another group's thing but with the role that this takes, from a main group", () => {
  fc.assert(
    fc.property(someAsker, someRights, someThing, (asker, rights, thing) => {
      fc.pre(thing.group !== asker.group);
      const isFromMain = asker.group === "main" && isAtLeast(asker.role, rights.fromMain ?? "owner");

      const isReached = isFromMain && rights.fromMain !== undefined;

      expect(mayAct(asker, rights, thing)).toBe(isReached ? "allowed" : "hidden");
    }),
  );
});

test("more people behind an asker, and a lesser role, never give a right", () => {
  fc.assert(
    fc.property(someAsker, someRights, someThing, more, (asker, rights, thing, { one, lesser }) => {
      fc.pre(asker.people.length > 0 && isAtLeast(asker.role, lesser));
      const before = mayAct(asker, rights, thing);

      const after = mayAct({ ...asker, role: lesser, people: [...asker.people, one] }, rights, thing);

      expect(after === "allowed" && before !== "allowed").toBe(false);
    }),
  );
});

const ofAdmin = { group: "a", lineage: { role: "admin", people: ["http:ann"] } } as const;
const stop = { role: "admin", own: true } as const;

test.each([
  ["its maker, who is a guest by now", { role: "guest", people: [["http:ann"]] }, "refused"],
  ["its maker", { role: "admin", people: [["http:ann"]] }, "allowed"],
  ["another admin", { role: "admin", people: [["http:bob"]] }, "allowed"],
  ["a member", { role: "member", people: [["http:bob"]] }, "refused"],
  ["its maker with a guest, in one turn", { role: "guest", people: [["http:gus"], ["http:ann"]] }, "refused"],
  ["a turn that nobody asked for", { role: "member", people: [] }, "refused"],
] as const)("what an admin has made is ended by %s: %j is %s", (_who, asker, ruling) => {
  expect(mayAct({ group: "a", reachesAll: false, ...asker }, stop, ofAdmin)).toBe(ruling);
});

test("a person is known by any of their keys, and what nobody made is of those whom nobody asked", () => {
  const thing = { group: "a", lineage: { role: "member", people: ["http:ann"] } } as const;
  const asker = { group: "a", reachesAll: false, role: "member" } as const;

  expect(mayAct({ ...asker, people: [["fake:ann", "http:ann"]] }, stop, thing)).toBe("allowed");
  expect(mayAct({ ...asker, people: [] }, stop, { ...thing, lineage: { role: "member", people: [] } })).toBe("allowed");
});
