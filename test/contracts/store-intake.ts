import { expect, test } from "vitest";

import type { IntakeCharge } from "../../src/stores/contract/intake-store.ts";
import { type OpenStore, restartableStore, say } from "./store-setup.ts";

const day = "2026-01-15";
const group = { kind: "group", name: "family" } as const;
const member = { kind: "member", name: "ann on the terminal" } as const;
const nothing = { messages: 0, bytes: 0, attachmentBytes: 0 };

function charge(bytes: number, more: Partial<IntakeCharge> = {}): IntakeCharge {
  return { day, accounts: [group, member], amount: { messages: 1, bytes, attachmentBytes: 7 }, ...more };
}

/** Contract for daily intake, counted together with the messages. */
export function testIntake(open: OpenStore): void {
  test("what was taken in on a day is the sum of its messages, also after a restart; a duplicate adds nothing", async () => {
    await using home = await restartableStore(open);
    const placed = { group: "family", state: "context", at: 10 } as const;
    await home.store.messages.insert(say("1"), { ...placed, charge: charge(100) });
    await home.store.messages.insert(say("2"), { ...placed, charge: charge(20) });
    await home.store.messages.insert(say("2"), { ...placed, charge: charge(20) });

    const { intake } = await home.restart();

    const sum = { messages: 2, bytes: 120, attachmentBytes: 14 };
    expect([await intake.ofDay(day, group), await intake.ofDay(day, member)]).toEqual([sum, sum]);
  });

  test("days, kinds and names are counted apart", async () => {
    await using home = await restartableStore(open);
    const { intake } = home.store;
    await intake.charge(charge(1));
    await intake.charge(charge(10, { day: "2026-01-16", accounts: [group] }));

    expect(await intake.ofDay(day, group)).toMatchObject({ bytes: 1 });
    expect(await intake.ofDay("2026-01-16", group)).toMatchObject({ bytes: 10 });
    expect(await intake.ofDay("2026-01-16", member)).toEqual(nothing);
    expect(await intake.ofDay(day, { kind: "member", name: "family" })).toEqual(nothing);
  });

  test("people are told once a day of each kind of limit, also over a restart and where nothing was counted", async () => {
    await using home = await restartableStore(open);
    await home.store.intake.charge(charge(1, { accounts: [group] }));
    const first = [
      await home.store.intake.tell(day, group, "messages"),
      await home.store.intake.tell(day, member, "files"),
    ];

    const { intake } = await home.restart();

    expect(first).toEqual([true, true]);
    expect([await intake.tell(day, group, "messages"), await intake.tell(day, member, "files")]).toEqual([
      false,
      false,
    ]);
    expect([await intake.tell(day, group, "files"), await intake.tell("2026-01-16", group, "messages")]).toEqual([
      true,
      true,
    ]);
    expect(await intake.ofDay(day, group)).toEqual({ messages: 1, bytes: 1, attachmentBytes: 7 });
    expect(await intake.ofDay(day, member)).toEqual(nothing);
  });
}
