import { expect, test } from "vitest";

import { Sent } from "../../../../src/channels/whatsapp/outgoing/sent.ts";
import { openTestStore } from "../../../support/open-test-store.ts";

const dayMs = 24 * 3_600_000;
const body = Buffer.from("what was sent");

test("what was sent is known with its number and its state, also after a restart", async () => {
  await using opened = await openTestStore();
  const space = "whatsapp/sent";
  const load = () => Sent.load(opened.store.channelState, space, { now: () => 1_000 });
  const first = await load();
  await first.keep({ id: "A", seq: 9_007_199_254_740_991, body });
  await first.keep({ id: "B", body });
  await first.accepted("A");
  await first.accepted("B");
  await first.keep({ id: "C", seq: 3, body });

  const sent = await load();

  expect(["A", "B", "C", "D"].map((id) => sent.seqOf(id))).toEqual([9_007_199_254_740_991, undefined, 3, undefined]);
  expect(["A", "B", "C", "D"].map((id) => sent.isAccepted(id))).toEqual([true, true, false, false]);
  for (const id of ["A", "B", "C"]) expect(Buffer.from((await sent.body(id)) ?? [])).toEqual(body);
});

test("what an earlier version has written, without numbers, is read as it was", async () => {
  await using opened = await openTestStore();
  const old = Buffer.alloc(9 + body.length);
  old.writeDoubleBE(1_000, 0);
  old[8] = 1;
  old.set(body, 9);
  await opened.store.channelState.apply("whatsapp/sent", new Map([["A", old]]));

  const sent = await Sent.load(opened.store.channelState, "whatsapp/sent", { now: () => 1_000 });

  expect([sent.seqOf("A"), sent.isAccepted("A")]).toEqual([undefined, true]);
  expect(Buffer.from((await sent.body("A")) ?? [])).toEqual(body);
});

test("after a day it is forgotten", async () => {
  await using opened = await openTestStore();
  let now = 1_000;
  const sent = await Sent.load(opened.store.channelState, "whatsapp/sent", { now: () => now });
  await sent.keep({ id: "A", seq: 1, body });
  now += dayMs + 1;
  await sent.keep({ id: "B", seq: 2, body });

  expect([sent.seqOf("A"), sent.seqOf("B")]).toEqual([undefined, 2]);
  expect([...(await opened.store.channelState.list("whatsapp/sent")).keys()]).toEqual(["B"]);
});
