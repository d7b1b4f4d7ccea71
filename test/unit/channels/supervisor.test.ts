import { setImmediate } from "node:timers/promises";

import pino from "pino";
import { describe, expect, test } from "vitest";

import { ConnectionEnd } from "../../../src/channels/channel.ts";
import { SupervisedChannel } from "../../../src/channels/supervisor.ts";
import { unconnected } from "../../../src/channels/unconnected.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { sleep } from "../../../src/lib/time/sleep.ts";
import { byName, reply, testChannel } from "../../contracts/channel.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { FakePlatform } from "../../fakes/fake-platform.ts";
import { openSupervisorRig } from "../../support/supervisor-rig.ts";

const minuteMs = 60_000;
const down = new Error("the platform is down");
const lost = new ConnectionEnd("lost", "cut");

function platformThat(...reactions: FakePlatform["reactions"]): FakePlatform {
  const platform = new FakePlatform();
  platform.reactions = reactions;
  return platform;
}

/** The host does not wait for a connection; these tests do. */
class OpenedChannel extends SupervisedChannel {
  override async start(...given: Parameters<SupervisedChannel["start"]>): Promise<void> {
    await super.start(...given);
    while (this.state().state !== "open") await setImmediate();
  }
}

describe("a supervised channel that needs no connection", () => {
  testChannel(
    async () => {
      const inner = new FakeChannel();
      const parts = { clock: systemClock, wait: sleep, random: Math.random, logger: pino({ level: "silent" }) };
      const channel = new OpenedChannel(unconnected(inner), parts);
      return {
        ...byName,
        channel,
        async say(spoken) {
          const told: boolean[] = [];
          for (const { group, text, id, member } of spoken) {
            told.push((await inner.say(group, text, { id, sender: member })).outcome === "stored");
          }
          return told;
        },
        heard: async () => inner.heard("main"),
        [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
      };
    },
    { numbered: true },
  );
});

test("a platform that is away is tried ever later, up to a minute, and every five minutes after ten failures", async () => {
  await using rig = await openSupervisorRig({ platform: platformThat(down) });
  const gaps: number[] = [];

  for (let failures = 1; failures <= 12; failures += 1) {
    const before = rig.time.clock.now();
    while (rig.platform.attempts === failures) await rig.time.advance(500);
    gaps.push((rig.time.clock.now() - before) / 1000);
  }

  expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 300, 300, 300]);
  expect(rig.state()).toBe("connecting");
  expect(rig.channel.state().detail).toMatch(/the platform is down; next try in 300 s, 13 failed in a row/);
  expect(rig.changes).toEqual([]);
});

test("delays are spread by a quarter to both sides", async () => {
  for (const [random, delayMs] of [
    [0, 750],
    [1, 1_250],
  ] as const) {
    await using rig = await openSupervisorRig({ platform: platformThat(down, "open"), random: () => random });

    expect(rig.time.waits).toContain(delayMs);
    await rig.time.advance(delayMs - 1);
    expect(rig.state()).toBe("connecting");
    await rig.time.advance(1);
    expect(rig.state()).toBe("open");
  }
});

test("failures are forgotten after five minutes of health, and not when a link opens and dies at once", async () => {
  await using rig = await openSupervisorRig({ platform: platformThat(down, down, "open") });
  await rig.time.advance(3_000);
  expect(rig.changes).toEqual(["open"]);

  rig.platform.end(lost);
  await rig.time.settle();
  const soon = rig.channel.state().detail;
  await rig.time.advance(4_000);
  await rig.time.advance(5 * minuteMs);
  rig.platform.end(lost);
  await rig.time.settle();

  expect(soon).toMatch(/3 failed in a row/);
  expect(rig.channel.state().detail).toMatch(/next try in 1 s, 1 failed in a row/);
  expect(rig.changes).toEqual(["open", "connecting", "open", "connecting"]);
});

test("a connection that works only partly is degraded and not healthy meanwhile", async () => {
  await using rig = await openSupervisorRig({ platform: platformThat(down, "open") });
  await rig.time.advance(1_000);

  rig.platform.degrade("groups cannot be read");
  const detail = rig.channel.state().detail;
  await rig.time.advance(10 * minuteMs);
  rig.platform.degrade(undefined);
  rig.platform.end(lost);
  await rig.time.settle();

  expect(detail).toBe("groups cannot be read");
  expect(rig.changes).toEqual(["open", "degraded", "open", "connecting"]);
  expect(rig.channel.state().detail).toMatch(/2 failed in a row/);
});

test("a platform's own hint when to come back is heeded", async () => {
  const busy = new ConnectionEnd("lost", "busy", { retryAfterMs: 7 * minuteMs });
  await using rig = await openSupervisorRig({ platform: platformThat(busy, "open") });

  await rig.time.advance(7 * minuteMs - 1);
  expect(rig.platform.attempts).toBe(1);
  await rig.time.advance(1);
  expect(rig.state()).toBe("open");
});

test("a restart that the platform asks for is done at once and is no failure, but not for ever", async () => {
  const restart = new ConnectionEnd("restart", "paired");
  await using rig = await openSupervisorRig();

  rig.platform.end(restart);
  await rig.time.settle();
  expect([rig.state(), rig.platform.attempts]).toEqual(["open", 2]);
  rig.platform.end(restart);
  await rig.time.settle();

  expect(rig.channel.state().detail).toMatch(/1 failed in a row/);
});

test("when another session takes the account over there is one try after ten minutes, then a person decides", async () => {
  await using rig = await openSupervisorRig();
  const taken = new ConnectionEnd("conflict", "another session");

  rig.platform.end(taken);
  await rig.time.settle();
  expect(rig.state()).toBe("conflict");
  await rig.time.advance(10 * minuteMs - 1);
  expect(rig.platform.attempts).toBe(1);
  await rig.time.advance(1);
  expect(rig.state()).toBe("open");
  rig.platform.end(taken);
  await rig.time.advance(100 * minuteMs);

  expect([rig.state(), rig.platform.attempts, rig.time.sleepers]).toEqual(["conflict", 2, 0]);
});

test.each(["logged-out", "closed"] as const)("a connection that ends %s is not tried again", async (kind) => {
  await using rig = await openSupervisorRig();

  rig.platform.end(new ConnectionEnd(kind, "the device was removed"));
  await rig.time.advance(100 * minuteMs);

  expect(rig.channel.state()).toMatchObject({ state: kind, detail: "the device was removed" });
  expect([rig.platform.attempts, rig.platform.live, rig.time.sleepers]).toEqual([1, 0, 0]);
});

test("an attempt that hangs is ended after a minute and counts as a failure", async () => {
  await using rig = await openSupervisorRig({ platform: platformThat("hang", "open") });

  await rig.time.advance(minuteMs);
  expect(rig.channel.state().detail).toMatch(/not connected within 60000 ms; next try in 1 s/);
  await rig.time.advance(1_000);

  expect(rig.state()).toBe("open");
});

test("an attempt that heeds nothing is waited for, so that there are never two connections", async () => {
  await using rig = await openSupervisorRig({ platform: platformThat("deaf", "open") });

  await rig.time.advance(30 * minuteMs);
  expect([rig.platform.attempts, rig.channel.state().detail]).toEqual([
    1,
    expect.stringContaining("is taking too long"),
  ]);
  rig.platform.answer();
  await rig.time.advance(1_000);

  expect([rig.state(), rig.platform.attempts, rig.platform.live, rig.platform.mostLive]).toEqual(["open", 2, 1, 1]);
});

test("a new connection waits until the last one is closed", async () => {
  await using rig = await openSupervisorRig();
  const closing = Promise.withResolvers<void>();
  rig.platform.closing = closing.promise;

  rig.platform.end(lost);
  await rig.time.advance(minuteMs);
  expect(rig.platform.attempts).toBe(1);
  closing.resolve();
  await rig.time.advance(1_000);

  expect([rig.state(), rig.platform.mostLive]).toEqual(["open", 1]);
});

describe("after two minutes of silence", () => {
  test("a platform that answers keeps its connection, however quiet the chats are", async () => {
    await using rig = await openSupervisorRig();

    await rig.time.advance(60 * minuteMs);

    expect([rig.state(), rig.platform.attempts, rig.platform.probes]).toEqual(["open", 1, 30]);
  });

  test.each(["silence", new Error("no route")] as const)(
    "a platform that does not answer (%s) is connected anew",
    async (probe) => {
      await using rig = await openSupervisorRig();
      rig.platform.probe = probe;

      await rig.time.advance(2 * minuteMs + (probe === "silence" ? 10_000 : 0));
      expect(rig.channel.state().detail).toMatch(/nothing was received.*(no answer within 10000 ms|no route)/);
      rig.platform.probe = "answer";
      await rig.time.advance(1_000);

      expect([rig.state(), rig.platform.attempts, rig.platform.mostLive]).toEqual(["open", 2, 1]);
    },
  );

  test("nobody asks a platform that has just said something, or one that cannot be asked", async () => {
    await using rig = await openSupervisorRig();
    for (let minute = 0; minute < 30; minute += 1) {
      await rig.time.advance(minuteMs);
      await rig.platform.say(`text ${minute}`);
    }
    const mute = new FakePlatform();
    mute.probe = undefined;
    await using other = await openSupervisorRig({ platform: mute });
    await other.time.advance(30 * minuteMs);

    expect(rig.platform.probes).toBe(0);
    expect([other.state(), other.platform.attempts]).toEqual(["open", 1]);
  });
});

test("replies, signs, reactions and progress go to the connection that is there, and are refused while there is none", async () => {
  await using rig = await openSupervisorRig();
  const signal = AbortSignal.timeout(120_000);

  await rig.channel.send(reply(1, "one"), signal);
  await rig.channel.signal("main", "working");
  await rig.channel.react("main", { message: "1", sender: "ann", emoji: "👀" });
  await rig.channel.showProgress("main", { id: "t", text: "Working", over: false });
  rig.platform.end(lost);
  await rig.time.settle();

  await expect(rig.channel.send(reply(2, "two"), signal)).rejects.toMatchObject({ permanent: false, ambiguous: false });
  await rig.channel.signal("main", "idle");
  await rig.channel.react("main", { message: "2", sender: "ann", emoji: "👀" });
  await rig.channel.showProgress("main", { id: "t", text: "Worked", over: true });
  expect(rig.platform.sent.map(({ text }) => text)).toEqual(["one"]);
  expect(rig.platform.signs).toEqual([
    ["main", "working"],
    ["main", "👀"],
    ["main", "Working"],
  ]);
});

test("its end closes the connection, waits for what is being stored, and takes nothing more", async () => {
  const stored = Promise.withResolvers<void>();
  await using rig = await openSupervisorRig({
    accept: async () => {
      await stored.promise;
      return { outcome: "stored", duplicate: false };
    },
  });
  const saying = rig.platform.say("just in time");
  let ended = false;

  const ending = rig.channel[Symbol.asyncDispose]().then(() => (ended = true));
  await rig.time.advance(minuteMs);
  expect([ended, rig.platform.live]).toEqual([false, 0]);
  stored.resolve();
  await ending;

  expect(await saying).toMatchObject({ outcome: "stored" });
  expect(await rig.platform.say("too late")).toMatchObject({ outcome: "refused", stopped: true });
  expect(rig.changes).toEqual(["open", "closed"]);
});

test("its end does not wait for ever for a platform that does not let go", async () => {
  await using rig = await openSupervisorRig({ platform: platformThat("deaf") });

  const ending = rig.channel[Symbol.asyncDispose]();
  await rig.time.advance(5_000);
  await ending;

  expect(rig.state()).toBe("closed");
});
