import { pino } from "pino";
import { expect, test } from "vitest";

import { ApprovalService } from "../../../../src/rights/approvals/approval-service.ts";
import type { NewApproval } from "../../../../src/domain/rights/approval.ts";
import { ForwardClock } from "../../../../src/lib/time/forward-clock.ts";
import { askIn, question } from "../../../support/asked-question.ts";
import { openTestStore } from "../../../support/open-test-store.ts";

const minuteMs = 60_000;
const by = { person: "operator", actor: "operator", name: "The operator", role: "owner" } as const;

interface RigOptions {
  readonly askedAt?: number;
  readonly change?: NewApproval["change"];
}

/** A store in which `AAAAAA` was asked at this moment, for half an hour, and services on a clock that the test sets. */
async function openRig({ askedAt = 1_000 * minuteMs, change }: RigOptions = {}) {
  const home = await openTestStore();
  const { store } = home;
  await askIn(store, [question({ askedAt, change })]);
  const time = { wall: askedAt, monotonic: 0 };
  const told: string[] = [];
  const woken: string[] = [];
  const carriedOut: string[] = [];
  const rules: string[] = [];
  const clock = { now: () => time.wall, monotonic: () => time.monotonic };
  /** Service of a host that starts after this recorded moment. */
  const openService = (latest = 0) =>
    new ApprovalService({
      store: store.approvals,
      wake: async ({ turn }) => void woken.push(turn ?? ""),
      carryOut: async (code) => void carriedOut.push(code),
      carryOutReviews: async () => "done",
      forms: { read: () => undefined, fill: () => undefined, settled: () => undefined },
      isMoot: async () => false,
      deniedBy: async () => rules[0],
      deliver: () => undefined,
      publish: async (event) => void told.push(event.type === "approval.decided" ? event.data.state : event.data.way),
      clock,
      forwardClock: new ForwardClock(clock, latest),
      logger: pino({ level: "silent" }),
    });
  return {
    store,
    time,
    told,
    woken,
    carriedOut,
    rules,
    openService,
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

test("a change of instructions is carried out when it is allowed, before its turn goes on, and for no longer than once", async () => {
  await using rig = await openRig({ change: { diff: "+Be kind.", base: "x" } });
  using service = rig.openService();

  for (const scope of ["session", "day", "always"] as const) {
    await expect(service.answer({ code: "AAAAAA", allow: true, scope, by })).rejects.toMatchObject({
      code: "bad_input",
    });
  }
  expect(rig.carriedOut).toEqual([]);
  await service.answer({ code: "AAAAAA", allow: true, scope: "once", by });

  expect([rig.carriedOut, rig.woken]).toEqual([["AAAAAA"], ["t"]]);
  expect(await rig.store.approvals.grants({ now: rig.time.wall })).toEqual([]);
});

test("a change of instructions that is denied, or that nobody answers, is not carried out", async () => {
  const change = { diff: "+Be kind.", base: "x" };
  await using denied = await openRig({ change });
  await using expired = await openRig({ change });
  using one = denied.openService();
  using other = expired.openService();

  await one.answer({ code: "AAAAAA", allow: false, scope: "once", by });
  expired.time.wall += 31 * minuteMs;
  other.checkNow();
  await expect.poll(() => expired.woken).toEqual(["t"]);

  expect([denied.carriedOut, expired.carriedOut, denied.woken]).toEqual([[], [], ["t"]]);
});

test("an answer in time is taken, put on record once, and wakes the turn", async () => {
  await using rig = await openRig();
  using service = rig.openService();
  rig.time.wall += 29 * minuteMs;
  rig.time.monotonic += 29 * minuteMs;

  await service.answer({ code: "AAAAAA", allow: true, scope: "once", by });
  service.checkNow();

  await expect(service.answer({ code: "AAAAAA", allow: false, scope: "once", by })).rejects.toMatchObject({
    code: "conflict",
    message: "AAAAAA was already decided: allowed by The operator.",
  });
  await expect(service.answer({ code: "BBBBBB", allow: false, scope: "once", by })).rejects.toMatchObject({
    code: "not_found",
  });
  expect([rig.told, rig.woken]).toEqual([["operator", "allowed"], ["t"]]);
});

test.each([
  ["it is over by the wall clock", { wall: 30 * minuteMs, monotonic: 1 }],
  ["the clock was set back meanwhile", { wall: -29 * minuteMs, monotonic: 30 * minuteMs }],
  ["the clock was set back by days", { wall: -3 * 24 * 60 * minuteMs, monotonic: 30 * minuteMs }],
])("when its time is over nobody can allow it anymore: %s", async (_case, later) => {
  await using rig = await openRig();
  using service = rig.openService();
  await service.endIfOver("AAAAAA");
  expect(await rig.store.approvals.get("AAAAAA")).toMatchObject({ state: "open" });
  rig.time.wall += later.wall;
  rig.time.monotonic += later.monotonic;

  await expect(service.answer({ code: "AAAAAA", allow: true, scope: "once", by })).rejects.toMatchObject({
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

    using service = rig.openService();
    service.checkNow();

    await expect.poll(() => rig.woken).toEqual(["t"]);
    expect(rig.told).toEqual(["expired"]);
    expect((await rig.store.outbox.unsent(10)).map(({ text }) => text)).toContain(
      "Nobody has answered within 30 minutes: shell (AAAAAA) is denied.",
    );
  },
);

test("over a restart with a clock that was set back, a question has the time that was left of it and no more", async () => {
  await using rig = await openRig();
  const askedAt = rig.time.wall;
  rig.time.wall -= 3 * 24 * 60 * minuteMs;
  using service = rig.openService(askedAt + 20 * minuteMs);

  rig.time.monotonic += 9 * minuteMs;
  await service.endIfOver("AAAAAA");
  const before = await rig.store.approvals.get("AAAAAA");
  rig.time.monotonic += 1 * minuteMs;

  await expect(service.answer({ code: "AAAAAA", allow: true, scope: "once", by })).rejects.toMatchObject({
    code: "expired",
  });
  expect(before).toMatchObject({ state: "open" });
});

test("a rule that denies it by now withdraws it before anybody can allow it: the chat is told, and its turn goes on", async () => {
  await using rig = await openRig();
  using service = rig.openService();
  service.checkNow();
  await service.endIfOver("AAAAAA");
  const before = await rig.store.approvals.get("AAAAAA");
  rig.rules.push("tools.shell");

  const answered = service.answer({ code: "AAAAAA", allow: true, scope: "once", by });

  await expect(answered).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("The policy") });
  service.checkNow();
  await expect.poll(() => rig.woken).toEqual(["t"]);
  expect(before).toMatchObject({ state: "open" });
  expect(await rig.store.approvals.get("AAAAAA")).toMatchObject({
    state: "denied",
    reason: "tools.shell denies it now",
    decider: { actor: "host" },
  });
  expect(rig.told).toEqual(["denied"]);
  expect((await rig.store.outbox.unsent(10)).map(({ text }) => text)).toContain(
    "The policy has denied shell (AAAAAA): tools.shell denies it now",
  );
});

test("a host that starts with rules which deny what was asked withdraws it", async () => {
  await using rig = await openRig();
  rig.rules.push("tools.shell");

  using service = rig.openService();
  service.checkNow();

  await expect.poll(() => rig.woken).toEqual(["t"]);
  expect(rig.told).toEqual(["denied"]);
});
