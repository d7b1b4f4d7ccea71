import { expect, test } from "vitest";

import type { IncomingMessage } from "../../../src/domain/chats/message.ts";
import { createAdmissions } from "../../../src/intake/chats/admissions.ts";
import { CodeTries } from "../../../src/rights/people/code-tries.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { createOnboarding } from "../../../src/intake/chats/onboarding.ts";
import { ForwardClock } from "../../../src/lib/time/forward-clock.ts";
import type { PendingCommand } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const main = someGroup("main", { main: true, channel: "fake", chat: "home" });
const minuteMs = 60_000;

/** `restart` begins anew with what the store has, as a host does that was killed. */
async function openRig() {
  const opened = await openTestStore();
  const { store } = opened;
  const clock = { wall: Date.UTC(2026, 0, 5, 12), ran: 0, now: () => clock.wall, monotonic: () => clock.ran };
  const records: { readonly type: string }[] = [];
  let [number, seq] = [0, 0];
  const registry = await openGroupRegistry({
    configured: [main],
    store: store.groups,
    resolve: someStoredGroup,
    prepare: async () => undefined,
  });
  const start = (latest?: number) => {
    const forward = new ForwardClock(clock, latest);
    const now = (): number => forward.now();
    const onboard = createOnboarding({
      store,
      onboards: () => true,
      pairs: true,
      mainGroups: () => [main],
      isConnected: () => true,
      assistantName: "crab",
      randomBelow: (limit) => (number += 7) % limit,
      deliver: () => undefined,
      clock: { now },
      publish: async (record) => void records.push(record),
    });
    const admissions = createAdmissions({
      store,
      registry,
      isNameFree: async ({ name }) => registry.byName(name) === undefined,
      isOffered: () => true,
      assistantName: "crab",
      tries: new CodeTries(store.requests, now),
      now,
      chats: { registered: async () => undefined },
      publish: async (record) => void records.push(record),
    });
    return { onboard, admissions };
  };
  let host = start();
  const told = async (chat: string): Promise<string[]> =>
    (await store.outbox.ofChannel("fake", 0, 100)).filter((row) => row.chat === chat).map(({ text }) => text);
  return {
    store,
    registry,
    records,
    told,
    clock,
    pass: (ms: number) => {
      clock.wall += ms;
      clock.ran += ms;
    },
    restart: (latest: number) => {
      host = start(latest);
    },
    hear: (from: string, more: Partial<IncomingMessage> = {}) =>
      host.onboard({ ...direct, chat: `${from}@x`, sender: { id: from, name: "Mallory" }, ...more }),
    codeOf: async (from: string) => /code: (\w{8})\./.exec((await told(`${from}@x`)).at(-1) ?? "")?.[1] ?? "",
    approve: async (argument: string, chat = "home", again = false) => {
      if (!again) seq += 1;
      const message = { seq, channel: "fake", chat, sender: { id: "owner", name: "Owner" } };
      const outcome = await host.admissions.answer({ command: "approve", argument, message } as PendingCommand);
      if (outcome.settles) await store.requests.settle(outcome.settles, outcome.outgoing, clock.wall);
      return outcome.text;
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

const direct = { channel: "fake", id: "1", text: "hello, my secret", mention: true, direct: true } as const;

test("who writes directly gets a code, once, and the main group hears of it; what was said is not kept", async () => {
  await using rig = await openRig();

  await rig.hear("mallory");
  await rig.hear("mallory", { id: "2" });
  const code = await rig.codeOf("mallory");

  expect(code).toMatch(/^[2-9A-Z]{8}$/);
  expect(await rig.told("mallory@x")).toHaveLength(1);
  expect(await rig.told("home")).toEqual([
    `Somebody called "Mallory" wrote to me (fake, mallory at x). If this is the code that the person tells you, answer within an hour: /approve ${code} [name] or /deny ${code}`,
  ]);
  expect(rig.records.map(({ type }) => type)).toEqual(["pairing.requested"]);
  expect(JSON.stringify(rig.records)).not.toContain(code);
  expect(JSON.stringify(await rig.store.requests.pairings())).not.toContain("secret");
});

test("the code lets in the chat that got it, whoever else is called the same, and can be used once", async () => {
  await using rig = await openRig();
  await rig.hear("mallory");
  await rig.hear("impostor");
  const code = await rig.codeOf("mallory");

  const first = await rig.approve(`${code.toLowerCase()} friend`);
  const again = await rig.approve(code);

  expect(first).toContain('is now the group "friend"');
  expect(again).toContain("There is no request with this code");
  expect(rig.registry.list().map(({ name, chat }) => [name, chat])).toEqual([
    ["friend", "mallory@x"],
    ["main", "home"],
  ]);
  expect(rig.records.map(({ type }) => type)).toContain("person.paired");
});

test("at most three wait on a channel, and one of a sender; who is denied gets no other", async () => {
  await using rig = await openRig();

  for (const from of ["a", "b", "c", "d"]) await rig.hear(from);
  await rig.hear("a", { chat: "another@x" });
  const waiting = (await rig.store.requests.pairings()).map(({ chat }) => chat);
  await rig.store.requests.settle({ code: await rig.codeOf("a"), as: "denied" }, [], rig.clock.wall);
  rig.pass(60 * minuteMs);
  await rig.hear("a");
  await rig.hear("d");

  expect(waiting.toSorted()).toEqual(["a@x", "b@x", "c@x"]);
  expect(await rig.told("another@x")).toEqual([]);
  expect([(await rig.told("a@x")).length, (await rig.told("d@x")).length]).toEqual([1, 1]);
});

test.for([
  ["an hour later", 60, 60, 0],
  ["an hour later, with the clock set back", -300, 60, 0],
  ["an hour later, with the clock set back in between and the host killed", -20, 30, 40],
  ["after a restart with a clock from before it was made", -90, 1, 0],
])("the code is of no use %s", async ([, wallMinutes, ranMinutes, knownMinutes]) => {
  await using rig = await openRig();
  await rig.hear("mallory");
  const code = await rig.codeOf("mallory");
  const began = rig.clock.wall;

  if (ranMinutes === 30) {
    // For forty minutes it went right, as events tell; then it was set back by an hour, and half an hour has passed.
    rig.clock.wall = began - 20 * minuteMs;
    rig.restart(began + Number(knownMinutes) * minuteMs);
    rig.clock.ran += 30 * minuteMs;
  } else {
    rig.clock.wall = began + Number(wallMinutes) * minuteMs;
    rig.clock.ran += Number(ranMinutes) * minuteMs;
    if (ranMinutes === 1) rig.restart(0);
  }

  expect(await rig.approve(code)).toContain("There is no request with this code");
  expect(rig.registry.list().map(({ name }) => name)).toEqual(["main"]);
});

test("a minute before that it is taken", async () => {
  await using rig = await openRig();
  await rig.hear("mallory");
  rig.pass(59 * minuteMs);

  expect(await rig.approve(await rig.codeOf("mallory"))).toContain("is now the group");
});

test("after five wrong codes none is taken in that chat for five minutes, also after a restart", async () => {
  await using rig = await openRig();
  await rig.hear("mallory");
  const code = await rig.codeOf("mallory");

  const wrong: string[] = [];
  for (let count = 0; count < 4; count += 1) wrong.push(await rig.approve(`WRONG${count}`));
  // The host dies before this one was carried out, and does it again.
  wrong.push(await rig.approve("WRONG3", "home", true), await rig.approve("WRONG4"));
  const locked = [await rig.approve(code), await rig.approve("WRONG5")];
  rig.restart(rig.clock.wall);
  rig.clock.wall -= 60 * minuteMs;
  rig.clock.ran += 4 * minuteMs;
  locked.push(await rig.approve(code));
  rig.clock.ran += 1 * minuteMs;
  const after = await rig.approve(code);

  const noRequest = "There is no request with this code. Use /approve CODE [name] or /deny CODE";
  const lock = "Too many wrong codes were typed here. Try again in 5 minutes.";
  expect(new Set(wrong.slice(0, 5))).toEqual(new Set([noRequest]));
  expect(wrong).toEqual([...wrong.slice(0, 5), `There is no request with this code. ${lock}`]);
  expect(locked).toEqual([lock, lock, lock]);
  expect(after).toContain("is now the group");
});

test("another main group is not locked, and a right code forgets the wrong ones", async () => {
  await using rig = await openRig();
  for (const from of ["a", "b"]) await rig.hear(from);
  const codes = [await rig.codeOf("a"), await rig.codeOf("b")] as const;

  for (let count = 0; count < 5; count += 1) await rig.approve("WRONG", "elsewhere");
  for (let count = 0; count < 4; count += 1) await rig.approve("WRONG");
  const first = await rig.approve(codes[0]);
  for (let count = 0; count < 4; count += 1) await rig.approve("WRONG");

  expect([first, await rig.approve(codes[1])]).toEqual([
    expect.stringContaining("is now the group"),
    expect.stringContaining("is now the group"),
  ]);
});
