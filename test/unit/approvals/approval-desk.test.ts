import { pino } from "pino";
import { expect, test } from "vitest";

import { ApprovalDesk } from "../../../src/approvals/approval-desk.ts";
import { WrongCodes } from "../../../src/approvals/wrong-codes.ts";
import type { NewApproval } from "../../../src/domain/approval.ts";
import { byMessage, draft, step } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const minuteMs = 60_000;
const by = { person: "operator", actor: "operator", name: "The operator", role: "owner" } as const;

/** A store in which `AAAAAA` was asked at this moment, for half an hour, and desks on a clock that the test sets. */
async function openRig(askedAt = 1_000 * minuteMs) {
  const home = await openTestStore();
  const { store } = home;
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  await store.turns.begin(
    { id: "t", session, group: "family", conversation: 1, ...byMessage, at: askedAt },
    step("hello"),
  );
  const approval: NewApproval = {
    code: "AAAAAA",
    call: "1",
    tool: "shell",
    input: '{"command":"ls"}',
    sha256: "x",
    risk: "low",
    rule: "default",
    asker: { id: "terminal:ann", name: "Ann", role: "member" },
    approvers: "admin",
    quorum: 1,
    askedAt,
    expiresAt: askedAt + 30 * minuteMs,
  };
  await store.turns.addStep("t", { ...step("asked"), asks: [{ approval, card: draft("May I?") }] });
  const time = { wall: askedAt, monotonic: 0 };
  const told: string[] = [];
  const woken: string[] = [];
  const openDesk = () =>
    new ApprovalDesk({
      store: store.approvals,
      wake: async ({ turn }) => void woken.push(turn),
      deliver: () => undefined,
      publish: async (event) => void told.push(event.type === "approval.decided" ? event.data.state : event.data.way),
      clock: { now: () => time.wall, monotonic: () => time.monotonic },
      logger: pino({ level: "silent" }),
    });
  return { store, time, told, woken, openDesk, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("an answer in time is taken, put on record once, and wakes the turn", async () => {
  await using rig = await openRig();
  using desk = rig.openDesk();
  rig.time.wall += 29 * minuteMs;
  rig.time.monotonic += 29 * minuteMs;

  await desk.answer({ code: "AAAAAA", allow: true, scope: "once", by });
  desk.changed();

  await expect(desk.answer({ code: "AAAAAA", allow: false, scope: "once", by })).rejects.toMatchObject({
    code: "conflict",
    message: "AAAAAA was already decided: allowed by The operator.",
  });
  await expect(desk.answer({ code: "BBBBBB", allow: false, scope: "once", by })).rejects.toMatchObject({
    code: "not_found",
  });
  expect([rig.told, rig.woken]).toEqual([["operator", "allowed"], ["t"]]);
});

test.each([
  ["it is over by the wall clock", { wall: 30 * minuteMs, monotonic: 1 }],
  ["the clock was set back meanwhile", { wall: -29 * minuteMs, monotonic: 30 * minuteMs }],
  ["the clock was set back by days", { wall: -3 * 24 * 60 * minuteMs, monotonic: 30 * minuteMs }],
])("when its time is over nobody can allow it any more: %s", async (_case, later) => {
  await using rig = await openRig();
  using desk = rig.openDesk();
  await desk.expireDue("AAAAAA");
  expect(await rig.store.approvals.get("AAAAAA")).toMatchObject({ state: "open" });
  rig.time.wall += later.wall;
  rig.time.monotonic += later.monotonic;

  await expect(desk.answer({ code: "AAAAAA", allow: true, scope: "once", by })).rejects.toMatchObject({
    code: "expired",
  });

  expect(await rig.store.approvals.get("AAAAAA")).toMatchObject({ state: "expired" });
});

test.each([
  ["after its time", 31 * minuteMs],
  ["with a clock from before it was asked", -5 * minuteMs],
])(
  "a host that starts again %s ends what nobody has answered, tells the chat and wakes the turn",
  async (_case, wall) => {
    await using rig = await openRig();
    rig.time.wall += wall;

    using desk = rig.openDesk();
    desk.changed();

    await expect.poll(() => rig.woken).toEqual(["t"]);
    expect(rig.told).toEqual(["expired"]);
    expect((await rig.store.outbox.unsent(10)).map(({ text }) => text)).toContain(
      "Nobody has answered within 30 minutes: shell (AAAAAA) is denied.",
    );
  },
);

test("five wrong codes lock somebody's codes for five minutes, and nobody else's; one message counts once", () => {
  const time = { now: 0 };
  const codes = new WrongCodes({ monotonic: () => time.now });
  for (const seq of [1, 1, 2, 3, 4]) codes.wrong("http:ann", seq);
  expect(codes.isLocked("http:ann")).toBe(false);

  codes.wrong("http:ann", 5);

  expect([codes.isLocked("http:ann"), codes.isLocked("whatsapp:ann")]).toEqual([true, false]);
  time.now += 5 * minuteMs;
  expect(codes.isLocked("http:ann")).toBe(false);
});
