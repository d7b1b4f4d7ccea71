import { expect, test } from "vitest";

import { add, openOutboxRig, states } from "../../support/outbox-rig.ts";

const dayMs = 24 * 3_600_000;

test("what is older than a day is not sent anymore, and what is younger is", async () => {
  const now = 2 * dayMs;
  await using rig = await openOutboxRig({ clock: { now: () => now } });
  const seq = await add(rig.store, "yesterday's", "family", { at: now - dayMs });
  await add(rig.store, "today's", "family", { at: now - dayMs + 1 });

  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["today's"]);
  expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "dead", error: "expired", attempts: 0 });
  expect(rig.outcomes).toEqual(["expired", "accepted"]);
});

test("a message that waits for its channel expires there, without anybody asking", async () => {
  const clock = { now: () => Date.now() };
  await using rig = await openOutboxRig({ clock });
  rig.channel.disconnect();
  await add(rig.store, "nearly over", "family", { at: clock.now() - dayMs + 100 });
  await add(rig.store, "new", "family", { at: clock.now() });

  rig.outbox.wake();
  await expect.poll(() => states(rig.store)).toEqual(["dead", "queued"]);
  rig.channel.connect();
  await rig.outbox.idle();

  expect(rig.channel.heard("family")).toEqual(["new"]);
});

test("a message that is tried again and again expires between two attempts", async () => {
  let now = 10;
  await using rig = await openOutboxRig({
    clock: { now: () => now },
    wait: async () => {
      now = dayMs + 10;
    },
  });
  rig.channel.failNextSends(1);
  await add(rig.store, "one", "family", { at: 10 });

  await rig.outbox.idle();

  expect(rig.outcomes).toEqual(["failed", "expired"]);
});

test("an expired message of which nobody knows whether it arrived is not sent, but looked for", async () => {
  const now = 2 * dayMs;
  await using rig = await openOutboxRig({ clock: { now: () => now } });
  rig.channel.reconcile = async ({ text }) => (text === "arrived" ? "accepted" : "absent");
  for (const text of ["arrived", "lost"]) {
    await rig.store.outbox.setState(await add(rig.store, text), "uncertain", 1);
  }

  await rig.outbox.idle();

  expect(await states(rig.store)).toEqual(["accepted", "dead"]);
  expect(rig.channel.attempts).toEqual([]);
});

test("a message that was given up is sent when the operator puts it back in line, however old it is", async () => {
  const now = 2 * dayMs;
  await using rig = await openOutboxRig({ clock: { now: () => now } });
  const old = await add(rig.store, "old");
  await add(rig.store, "new", "family", { at: now });
  await rig.outbox.idle();

  const retried = await rig.outbox.retry([old, 999]);
  await rig.outbox.idle();

  expect(retried).toEqual([old]);
  expect(rig.channel.heard("family")).toEqual(["new", "old"]);
  expect(await rig.outbox.retry([old])).toEqual([]);
});

test("a message that is on its way cannot be put back in line", async () => {
  await using rig = await openOutboxRig();
  const seq = await add(rig.store, "one");
  const release = rig.channel.holdSends();
  rig.outbox.wake();
  await expect.poll(() => rig.channel.attempts.length).toBe(1);

  await expect(rig.outbox.retry([seq])).rejects.toMatchObject({ code: "conflict" });

  release();
  await rig.outbox.idle();
  expect(rig.channel.attempts).toHaveLength(1);
});
