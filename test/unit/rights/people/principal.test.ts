import { expect, test } from "vitest";

import type { Role } from "../../../../src/domain/people/role.ts";
import { principalOf } from "../../../../src/rights/people/principal.ts";
import { say, step } from "../../../contracts/store-setup.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";

const family = someGroup("family", { channel: "terminal", chat: "chat" });
const people: Readonly<Record<string, Role>> = { ann: "admin", mia: "member" };
const roleOf = (_group: object, { id }: { readonly id: string }): Role => people[id] ?? "guest";
const nowhere = { kind: "nowhere" } as const;

test("an admin who speaks along in the task of a member gives what comes of it no more rights", async () => {
  await using home = await openTestStore();
  const { store } = home;
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  await store.work.add(
    {
      id: "w",
      group: "family",
      session,
      cause: "schedule",
      dueAt: 1,
      dedupe: "task:1",
      replyTo: nowhere,
      requester: "terminal:mia",
      origin: "member",
      text: "do it",
    },
    1,
  );
  const { seq } = (await store.work.due(session, 10)) ?? { seq: 0 };
  const turn = { id: "t", session, group: "family", conversation: 1, cause: "schedule", replyTo: nowhere } as const;
  await store.turns.begin({ ...turn, at: 10 }, { ...step("do it"), takesWork: seq });
  const { seq: said } = await store.messages.insert(say("1", { sender: { id: "ann", name: "Ann" } }), {
    group: "family",
    state: "waiting",
    at: 10,
  });
  await store.turns.addStep("t", step("by the way", { messages: [said], cursor: said }));

  const { role, requester } = await principalOf({ origins: store.origins, roleOf }, family, turn);

  expect([role, requester]).toEqual(["member", "terminal:mia"]);
});
