import { once } from "node:events";

import { expect, test } from "vitest";

import { ConnectionEnd, type LoginEvent } from "../../../src/channels/channel.ts";
import { FakePlatform } from "../../fakes/fake-platform.ts";
import { openSupervisorRig, type SupervisorRig } from "../../support/supervisor-rig.ts";

const unlinked = new ConnectionEnd("logged-out", "no account");
const never = new AbortController().signal;

/** A platform that shows one code, and is linked when the promise resolves. */
function platformToLink(scanned: Promise<void>): FakePlatform {
  const platform = new FakePlatform();
  platform.reactions = [unlinked];
  platform.link = async function* link(_options, signal) {
    yield { qr: "code" };
    if (!signal.aborted) await Promise.race([scanned, once(signal, "abort")]);
    if (!signal.aborted) platform.reactions = ["open"];
  };
  return platform;
}

async function* failToLink(): AsyncGenerator<LoginEvent> {
  yield* [];
  throw new Error("nobody scanned the code");
}

async function collect(rig: SupervisorRig, signal = never): Promise<LoginEvent[]> {
  return Array.fromAsync(rig.channel.login(signal));
}

test("linking shows codes, then connects, and says so", async () => {
  await using rig = await openSupervisorRig({ platform: platformToLink(Promise.resolve()) });

  const events = await collect(rig);

  expect(events).toEqual([{ qr: "code" }, { state: "open", detail: undefined }]);
  expect(rig.changes).toEqual(["logged-out", "connecting", "open"]);
});

test("two people do not link at once, and one who gives up leaves the channel as it was", async () => {
  await using rig = await openSupervisorRig({ platform: platformToLink(new Promise(() => undefined)) });
  const leave = new AbortController();
  const first = rig.channel.login(leave.signal);
  await first.next();

  await expect(collect(rig)).rejects.toMatchObject({ code: "conflict" });
  leave.abort();
  await first.next();
  await rig.time.settle();

  expect(rig.state()).toBe("logged-out");
  expect(rig.platform.live).toBe(0);
});

test("why an account could not be linked is the last thing that is said", async () => {
  const platform = new FakePlatform();
  platform.reactions = [unlinked];
  platform.link = failToLink;
  await using rig = await openSupervisorRig({ platform });

  expect(await collect(rig)).toEqual([{ state: "logged-out", detail: "nobody scanned the code" }]);
});

test("a channel without an account says that it needs none, and one that had given up is tried again", async () => {
  const platform = new FakePlatform();
  platform.reactions = ["open", new ConnectionEnd("closed", "gone"), "open"];
  await using rig = await openSupervisorRig({ platform });

  const whileOpen = await collect(rig);
  platform.end(new ConnectionEnd("closed", "gone"));
  await rig.time.settle();
  const before = rig.state();
  const refused = await collect(rig);
  const after = await collect(rig);

  expect(whileOpen).toEqual([{ state: "open", detail: "The channel platform needs no login." }]);
  expect(before).toBe("closed");
  expect(refused).toEqual([{ state: "closed", detail: "gone" }]);
  expect(after).toMatchObject([{ state: "open" }]);
});

test("the operator is called for what does not mend itself, and for nothing else", async () => {
  const quiet = new ConnectionEnd("logged-out", "no account yet", { isAlarm: false });
  const platform = new FakePlatform();
  platform.reactions = [
    new Error("down"),
    new ConnectionEnd("lost", "cut"),
    new ConnectionEnd("conflict", "taken"),
    quiet,
  ];
  await using rig = await openSupervisorRig({ platform });

  await rig.time.advance(3_600_000);

  expect(rig.state()).toBe("logged-out");
  expect(rig.alarms).toEqual(["taken"]);
});

test("the end of the host ends a login", async () => {
  await using rig = await openSupervisorRig({ platform: platformToLink(new Promise(() => undefined)) });
  const events = rig.channel.login(never);
  await events.next();

  const ending = rig.channel[Symbol.asyncDispose]();
  await rig.time.advance(10_000);
  await ending;

  expect((await events.next()).value).toMatchObject({ state: expect.any(String) as string });
  expect(rig.platform.attempts).toBe(1);
});
