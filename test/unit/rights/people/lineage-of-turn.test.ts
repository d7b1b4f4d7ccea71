import { expect, test } from "vitest";

import type { Role } from "../../../../src/domain/people/role.ts";
import { lineageOfTurn } from "../../../../src/rights/people/lineage-of-turn.ts";
import { say, step } from "../../../contracts/store-setup.ts";
import { lineageOf } from "../../../support/lineages.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";

const family = someGroup("family", { channel: "terminal", chat: "chat" });
const nowhere = { kind: "nowhere" } as const;

/** A turn of ann's (an admin's) task, while which mia (a member) speaks. */
async function openTurn() {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  const asked = lineageOf("admin", "terminal:ann");
  const work = { id: "w", group: "family", session, cause: "schedule", dueAt: 1, replyTo: nowhere } as const;
  await store.work.add({ ...work, origin: "admin", lineage: asked, text: "do it" }, 1);
  const { seq } = (await store.work.due(session, 10)) ?? { seq: 0 };
  const turn = { id: "t", session, group: "family", conversation: 1, cause: "schedule", replyTo: nowhere } as const;
  await store.turns.begin({ ...turn, at: 10 }, { ...step("do it"), takesWork: { seq, lineage: asked } });
  const people: Record<string, Role> = { ann: "admin", mia: "member" };
  const sources = {
    origins: store.origins,
    roleOf: (_group: object, { id }: { readonly id: string }) => people[id] ?? "guest",
  };
  const speaks = async (): Promise<void> => {
    const { seq: said } = await store.messages.insert(say("1", { sender: { id: "mia", name: "Mia" } }), {
      group: "family",
      state: "waiting",
      at: 10,
    });
    const lineage = lineageOf("member", "terminal:mia");
    await store.turns.addStep("t", step("by the way", { messages: [said], cursor: said, lineage }));
  };
  const owned = stack.move();
  const now = async () => lineageOfTurn(sources, family, turn);
  return { now, speaks, people, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("a turn works for whoever asked for its work, until somebody with fewer rights speaks along", async () => {
  await using turn = await openTurn();

  const before = await turn.now();
  await turn.speaks();

  expect(before).toMatchObject({ role: "admin", people: ["terminal:ann"] });
  expect(await turn.now()).toMatchObject({
    role: "member",
    people: ["terminal:mia", "terminal:ann"],
    origins: ["admin", "member"],
  });
});

test("who loses a role loses it in turns that run, and who gains one has it in the next one", async () => {
  await using turn = await openTurn();

  turn.people["ann"] = "guest";
  const demoted = await turn.now();
  turn.people["ann"] = "owner";
  const promoted = await turn.now();

  expect([demoted.role, promoted.role]).toEqual(["guest", "admin"]);
});
