import { pino } from "pino";
import { expect, test } from "vitest";

import type { Decider } from "../../../../src/domain/rights/approval.ts";
import type { FormRequest } from "../../../../src/domain/rights/form.ts";
import { mainSessionKey } from "../../../../src/domain/turns/session.ts";
import { ApprovalService } from "../../../../src/rights/approvals/approval-service.ts";
import { cancelWord, Forms } from "../../../../src/rights/approvals/forms/forms.ts";
import { inherit, isNoWider, type Lineage, unknownLineage } from "../../../../src/domain/rights/lineage.ts";
import { askerOfTurn } from "../../../../src/rights/approvals/asker-of-turn.ts";
import { lineageOf } from "../../../support/lineages.ts";
import { byMessage, step } from "../../../contracts/store-setup.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";

const group = someGroup("family", { channel: "terminal", chat: "chat" });
const by: Decider = { person: "terminal:ann", actor: "member:ann", name: "Ann", role: "admin" };
const schema = {
  type: "object",
  properties: { size: { type: "integer", minimum: 1, maximum: 9 } },
  required: ["size"],
};
const request: FormRequest = {
  server: "shop",
  tool: "mcp__shop__order",
  message: "What size?",
  mayAskText: false,
  wants: { schema },
};

/** Forms and the service that takes their answers, on a real store, and a clock that the test sets. */
async function openRig(lineage = lineageOf("member", "terminal:ann")) {
  const home = await openTestStore();
  const { store } = home;
  const time = { now: 1_000_000 };
  const clock = { now: () => time.now };
  const { id: session } = await store.sessions.open(mainSessionKey(group), "family");
  const turn = { id: "t", session, group: "family", conversation: 1, ...byMessage, at: time.now };
  await store.turns.begin(turn, step("order one", { messages: [], cursor: 0, lineage }));
  const shared = { store: store.approvals, publish: async () => undefined, deliver: () => undefined, clock };
  const forms = new Forms({
    ...shared,
    settings: () => ({ expiresMinutes: 60 }),
    askerOf: (of, id) => askerOfTurn(store, () => "owner", of, id),
    note: store.origins.note.bind(store.origins),
    asked: () => service.checkNow(),
    randomBelow: (limit) => Math.floor(Math.random() * limit),
  });
  const service = new ApprovalService({
    ...shared,
    forms,
    wake: async () => undefined,
    carryOut: async () => undefined,
    carryOutReviews: async () => "done",
    isMoot: async ({ code }) => !forms.isAwaited(code),
    deniedBy: async () => undefined,
    forwardClock: clock,
    logger: pino({ level: "silent" }),
  });
  return {
    store,
    time,
    forms,
    service,
    /** Has the server ask during a call; the call ends with the signal. */
    ask: (signal = new AbortController().signal, wanted = request) =>
      forms.ask({ group, session, turn: "t" }, wanted, signal),
    /** Code of the open form, once it is asked. */
    code: async () => {
      await expect.poll(async () => (await store.approvals.open()).length).toBe(1);
      return (await store.approvals.open())[0]?.code ?? "";
    },
    cards: async () => (await store.outbox.unsent(50)).map(({ text }) => text),
    [Symbol.asyncDispose]: async () => {
      service[Symbol.dispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

test.each([
  ["a guest", lineageOf("guest", "terminal:eve")],
  ["a member", lineageOf("member", "terminal:mia")],
  [
    "an admin while a member speaks along",
    inherit([lineageOf("admin", "terminal:ada"), lineageOf("member", "terminal:mia")]),
  ],
  ["nobody that is known", unknownLineage],
])(
  "a form of a call for %s is asked for them, and its values come with what the turn had read",
  async (_who, lineage) => {
    await using rig = await openRig(lineage);

    const filled = rig.ask();
    const code = await rig.code();
    const asked = await rig.store.approvals.get(code);
    await rig.service.answer({ code, allow: true, scope: "once", by }, { values: "size=7" });
    await filled;

    const [who = "message"] = lineage.people;
    expect(asked?.asker).toMatchObject({ id: who, role: lineage.role });
    expect(await rig.store.origins.lineage("t")).toSatisfy((after: Lineage) => isNoWider(after, lineage));
  },
);

test("a server gets the values that a person gives it, once they fit its form", async () => {
  await using rig = await openRig();

  const filled = rig.ask();
  const code = await rig.code();
  const card = (await rig.cards()).join("\n");
  const answer = { code, allow: true, scope: "once", by } as const;
  await expect(rig.service.answer(answer, { values: "size=10" })).rejects.toMatchObject({
    code: "bad_input",
    message: "Invalid answer: size is at most 9.",
  });
  await rig.service.answer(answer, { values: "size=7" });

  expect(await filled).toEqual({ action: "accept", content: { size: 7 } });
  // What people say comes back to the model by the server.
  expect((await rig.store.turns.get("t"))?.lineage.origins).toContain(by.role);
  expect(card).toContain("What size?");
  expect(card).toContain(`/answer ${code} size=…`);
  expect(rig.forms.areAwaited).toBe(false);
});

test.each([
  ["a refusal", undefined, "decline"],
  ["the word cancel", cancelWord, "cancel"],
])("%s reaches the server as such, without values", async (_case, reason, action) => {
  await using rig = await openRig();

  const filled = rig.ask();
  await rig.service.answer({ code: await rig.code(), allow: false, scope: "once", by, reason });

  expect(await filled).toEqual({ action });
});

test("a form that nobody answers is cancelled after half an hour, however long approvals are open", async () => {
  await using rig = await openRig();

  const filled = rig.ask();
  const code = await rig.code();
  rig.time.now += 29 * 60_000;
  await rig.service.endIfOver(code);
  const before = (await rig.store.approvals.get(code))?.state;
  rig.time.now += 2 * 60_000;
  await rig.service.endIfOver(code);

  expect(before).toBe("open");
  expect(await filled).toEqual({ action: "cancel" });
  expect((await rig.store.approvals.get(code))?.state).toBe("expired");
});

test("a form is taken back when its call ends, and the chat is told", async () => {
  await using rig = await openRig();
  const call = new AbortController();

  const filled = rig.ask(call.signal);
  const code = await rig.code();
  call.abort();

  expect(await filled).toEqual({ action: "cancel" });
  expect((await rig.store.approvals.get(code))?.state).toBe("cancelled");
  expect((await rig.cards()).at(-1)).toContain(code);
  await expect(
    rig.service.answer({ code, allow: true, scope: "once", by }, { values: "size=7" }),
  ).rejects.toMatchObject({ code: "conflict" });
});

test("a server asks one question at a time in a group, and twenty an hour", async () => {
  await using rig = await openRig();

  const first = rig.ask();
  await expect(rig.ask()).rejects.toThrow("one question at a time");
  await rig.service.answer({ code: await rig.code(), allow: false, scope: "once", by });
  await first;
  for (let count = 1; count < 20; count += 1) {
    const call = new AbortController();
    const asked = rig.ask(call.signal);
    await rig.code();
    call.abort();
    await asked;
  }

  await expect(rig.ask()).rejects.toThrow("at most 20 questions of a server in an hour");
  rig.time.now += 3_600_001;
  const later = rig.ask();
  await rig.service.answer({ code: await rig.code(), allow: true, scope: "once", by }, { values: "size=1" });
  expect(await later).toEqual({ action: "accept", content: { size: 1 } });
});

test.each([
  ["a secret", { schema: { type: "object", properties: { password: { type: "string" } } } }, "never asked for here"],
  ["a nested form", { schema: { type: "object", properties: { a: { type: "object" } } } }, "a flat object"],
  ["an address without TLS", { url: "http://shop.example/pay" }, "an address begins with https://"],
  ["an address with a name in it", { url: "https://ann@shop.example/pay" }, "an address begins with https://"],
])("%s is refused before anybody is asked", async (_case, wants, reason) => {
  await using rig = await openRig();

  await expect(rig.ask(undefined, { ...request, wants })).rejects.toThrow(reason);

  expect(await rig.store.approvals.open()).toEqual([]);
  expect(await rig.cards()).toEqual([]);
});
