import { expect, test } from "vitest";
import * as z from "zod";

import type { Role } from "../../../src/domain/people/role.ts";
import { type AskingMember, defineOperation } from "../../../src/operations/definition/define-operation.ts";
import { invoke } from "../../../src/operations/invoke.ts";

const ownerOf: Readonly<Record<string, { readonly group: string; readonly by: string }>> = {
  ours: { group: "family", by: "terminal:ann" },
  theirs: { group: "work", by: "terminal:ann" },
};

const common = {
  input: z.strictObject({ id: z.string() }),
  output: z.string(),
  effect: "none",
  run: async (_needs: object, { id }: { id: string }) => id,
} as const;
const of = async (_needs: object, { id }: { readonly id: string }): Promise<string> => ownerOf[id]?.group ?? "none";

const forAdmins = defineOperation<object>()({
  ...common,
  name: "things.end",
  summary: "end a thing",
  may: { scope: "admin", role: "admin", of },
});
const forOwners = defineOperation<object>()({
  ...common,
  name: "things.drop",
  summary: "drop a thing",
  may: {
    scope: "admin",
    role: "admin",
    of,
    own: async (_needs, { id }) => ({ role: "guest", people: [ownerOf[id]?.by ?? ""] }),
    refusal: "Only its maker or an admin can drop it.",
  },
});
const forOperators = defineOperation<object>()({
  ...common,
  name: "things.look",
  summary: "look at a thing",
  may: { scope: "read" },
});

function asking(role: Role, key = "terminal:bob"): AskingMember {
  return { group: "family", isMain: false, role, keys: [key] };
}

function outcome(operation: typeof forAdmins, id: string, member?: AskingMember): Promise<unknown> {
  return invoke(
    operation,
    {},
    { id },
    {
      actor: member ? "member:bob" : "operator",
      member,
      scopes: new Set(["read"] as const),
      publish: async () => undefined,
      signal: new AbortController().signal,
    },
  ).catch((error: unknown) => (error as { code: string }).code);
}

test.for([
  ["an admin does what is for admins", forAdmins, "ours", asking("admin"), "ours"],
  ["a member does not", forAdmins, "ours", asking("member"), "unauthorized"],
  ["nobody reaches what belongs to another group", forAdmins, "theirs", asking("owner"), "not_found"],
  ["a member does it with their own thing", forOwners, "ours", asking("guest", "terminal:ann"), "ours"],
  ["but not with somebody else's", forOwners, "ours", asking("member"), "unauthorized"],
  ["nor with their own in another group", forOwners, "theirs", asking("member", "terminal:ann"), "not_found"],
  ["what is for operators is for no member", forOperators, "ours", asking("owner"), "unauthorized"],
  ["an operator who may only look does so", forOperators, "ours", undefined, "ours"],
  ["and changes nothing", forAdmins, "ours", undefined, "unauthorized"],
] as const)("%s", async ([, operation, id, member, expected]) => {
  expect(await outcome(operation, id, member)).toBe(expected);
});

test("a member who lacks the role does not learn whether the thing exists, and a refusal says who may", async () => {
  const refused = [
    await outcome(forAdmins, "ours", asking("member")),
    await outcome(forAdmins, "missing", asking("member")),
  ];
  const words = invoke(
    forOwners,
    {},
    { id: "ours" },
    {
      actor: "member:bob",
      member: asking("member"),
      scopes: new Set([] as const),
      publish: async () => undefined,
      signal: new AbortController().signal,
    },
  );

  expect(refused).toEqual(["unauthorized", "unauthorized"]);
  await expect(words).rejects.toThrow("Only its maker or an admin can drop it.");
});
