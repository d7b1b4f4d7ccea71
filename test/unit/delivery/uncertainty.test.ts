import { describe, expect, test } from "vitest";

import { SendError } from "../../../src/channels/channel.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { add, openOutboxRig, states } from "../../support/outbox-rig.ts";

/** A platform that shows a message as often as it is sent. */
const forgetful = () => new FakeChannel("fake", false);

describe("what a platform says about a refusal", () => {
  test("ends a message at once when it is final, with the reason, and the next one goes on", async () => {
    await using rig = await openOutboxRig();
    rig.channel.failNextSends(1, new SendError("no such chat", { permanent: true }));
    const seq = await add(rig.store, "one");
    await add(rig.store, "two");

    await rig.outbox.idle();

    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "dead", attempts: 1, error: "no such chat" });
    expect(rig.channel.heard("family")).toEqual(["two"]);
    expect(rig.delays).toEqual([]);
    expect(rig.outcomes).toEqual(["dead", "accepted"]);
  });

  test("is heeded when it asks for patience, which costs the message no attempt", async () => {
    await using rig = await openOutboxRig();
    rig.channel.failNextSends(7, new SendError("slow down", { retryAfterMs: 90_000 }));
    const seq = await add(rig.store, "one");

    await rig.outbox.idle();

    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "accepted", attempts: 1 });
    expect(rig.delays).toEqual(Array.from({ length: 7 }, () => 90_000));
  });

  test("never shortens the back-off", async () => {
    await using rig = await openOutboxRig();
    rig.channel.failNextSends(3, new SendError("at once", { retryAfterMs: 0 }));
    await add(rig.store, "one");

    await rig.outbox.idle();

    expect(rig.delays).toEqual([1_000, 2_000, 4_000]);
  });
});

describe("a message that the platform may have taken", () => {
  test("is sent again where that does no harm", async () => {
    await using rig = await openOutboxRig();
    rig.channel.cutNextSends(2, { taken: true });
    await add(rig.store, "one");

    await rig.outbox.idle();

    expect(rig.channel.attempts).toHaveLength(3);
    expect(rig.channel.heard("family")).toEqual(["one"]);
    expect(rig.outcomes).toEqual(["uncertain", "uncertain", "accepted"]);
  });

  test("is never sent twice by itself where that would be seen, and holds up nobody", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    rig.channel.cutNextSends(1, { taken: true });
    const seq = await add(rig.store, "one");
    await add(rig.store, "two");

    await rig.outbox.idle();
    rig.channel.disconnect();
    rig.outbox.wake();
    rig.channel.connect();
    await rig.outbox.idle();
    await using next = rig.restart();
    await next.idle();

    expect(rig.channel.heard("family")).toEqual(["one", "two"]);
    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "uncertain", attempts: 1, error: "cut" });
    expect(rig.outcomes).toEqual(["uncertain", "accepted"]);
  });

  test.each([true, false])(
    "is looked for where that is possible, before anything is sent again (taken: %s)",
    async (taken) => {
      await using rig = await openOutboxRig({}, forgetful());
      const asked: number[] = [];
      rig.channel.reconcile = async ({ seq }) => {
        asked.push(seq);
        return rig.channel.has(seq) ? "accepted" : "absent";
      };
      rig.channel.cutNextSends(2, { taken });
      const seq = await add(rig.store, "one");
      await add(rig.store, "two");

      await rig.outbox.idle();

      expect(rig.channel.heard("family")).toEqual(["one", "two"]);
      expect(rig.channel.attempts.map(({ text }) => text)).toEqual(
        taken ? ["one", "two", "two"].slice(0, 2) : ["one", "one", "one", "two"],
      );
      expect(asked.filter((one) => one === seq)).toHaveLength(taken ? 1 : 2);
    },
  );

  test("is left to the operator when the platform cannot tell", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    rig.channel.reconcile = async () => "unknown";
    rig.channel.cutNextSends(1, { taken: false });
    await add(rig.store, "one");

    await rig.outbox.idle();

    expect(await states(rig.store)).toEqual(["uncertain"]);
    expect(rig.channel.attempts).toHaveLength(1);
  });

  test("is asked for again when the question failed, and not for ever", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    let questions = 0;
    rig.channel.reconcile = async () => {
      questions += 1;
      throw new Error("the search is down");
    };
    rig.channel.cutNextSends(1, { taken: true });
    await add(rig.store, "one");

    await rig.outbox.idle();

    expect(questions).toBe(4);
    expect(await states(rig.store)).toEqual(["uncertain"]);
  });

  test("is sent by the next host when it is missing", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    const seq = await add(rig.store, "one");
    await rig.store.outbox.setState(seq, "sending", 1);
    rig.channel.reconcile = async (message) => (rig.channel.has(message.seq) ? "accepted" : "absent");

    await rig.outbox.idle();

    expect(rig.channel.attempts).toHaveLength(1);
    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "accepted", attempts: 1 });
  });
});

describe("a message that was being sent when the host died", () => {
  test("is uncertain on a platform that would show it twice", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    const seq = await add(rig.store, "one");
    await rig.store.outbox.setState(seq, "sending", 1);
    await add(rig.store, "two");

    await rig.outbox.idle();

    expect(rig.channel.heard("family")).toEqual(["two"]);
    const reason = "the host ended while it was being sent";
    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "uncertain", error: reason });
    expect(rig.outcomes).toEqual(["uncertain", "accepted"]);
  });

  test("is not given up for that, however often the host dies", async () => {
    await using rig = await openOutboxRig();
    const seq = await add(rig.store, "one");
    const release = rig.channel.holdSends();
    await using lives = new AsyncDisposableStack();

    // None of these ever learns what became of its attempt.
    for (let life = 1; life <= 9; life += 1) {
      lives.use(rig.restart()).wake();
      await expect.poll(() => rig.channel.attempts.length).toBe(life);
    }

    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "queued", attempts: 0 });
    release();
    await rig.outbox.idle();
    expect(rig.channel.heard("family")).toEqual(["one"]);
  });

  test("is asked about when the host stopped in the middle of it", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    const seq = await add(rig.store, "one");
    const release = rig.channel.holdSends();
    rig.outbox.wake();
    await expect.poll(() => rig.channel.attempts.length).toBe(1);

    await rig.outbox[Symbol.asyncDispose]();
    release();
    await using next = rig.restart();
    await next.idle();

    expect(rig.channel.attempts).toHaveLength(1);
    expect(await rig.store.outbox.get(seq)).toMatchObject({ state: "uncertain", attempts: 0 });
  });
});

describe("what a platform confirms later", () => {
  test("is delivered", async () => {
    await using rig = await openOutboxRig();
    const seq = await add(rig.store, "one");
    await rig.outbox.idle();

    rig.channel.confirm(seq);
    rig.channel.confirm(999);

    await expect.poll(() => states(rig.store)).toEqual(["delivered"]);
    expect(rig.outcomes).toEqual(["accepted", "delivered"]);
  });

  test("is delivered also when the confirmation comes before the answer to the send, or instead of it", async () => {
    await using rig = await openOutboxRig({}, forgetful());
    const [first, second] = [await add(rig.store, "one", "a"), await add(rig.store, "two", "b")];
    rig.channel.cutNextSends(1, { taken: true });
    const release = rig.channel.holdSends();
    rig.outbox.wake();
    await expect.poll(() => rig.channel.attempts.length).toBe(2);

    rig.channel.confirm(first);
    rig.channel.confirm(second);
    release();
    await rig.outbox.idle();

    expect(await states(rig.store)).toEqual(["delivered", "delivered"]);
    expect(rig.channel.attempts).toHaveLength(2);
  });
});
