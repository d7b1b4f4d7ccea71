import { expect, test } from "vitest";

import type { RequestLimits } from "../../../src/domain/chats/group.ts";
import type { IncomingMessage } from "../../../src/domain/chats/message.ts";
import { createAdmissions } from "../../../src/intake/chats/admissions.ts";
import { CodeTries } from "../../../src/rights/people/code-tries.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { createOnboarding, type OnboardingOptions } from "../../../src/intake/chats/onboarding.ts";
import type { PendingCommand, Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const main = someGroup("main", { main: true, channel: "fake", chat: "home" });

interface Rig extends AsyncDisposable {
  readonly store: Store;
  hear(message?: Partial<IncomingMessage>): Promise<void>;
  /** Notices in the main groups, in order. */
  told(): Promise<string[]>;
  readonly records: object[];
  pass(ms: number): void;
}

async function openRig(more: Partial<OnboardingOptions> = {}): Promise<Rig> {
  const opened = await openTestStore();
  const { store } = opened;
  const records: object[] = [];
  let [now, number] = [1_000_000_000, 0];
  const onboard = createOnboarding({
    store,
    onboards: (channel) => channel === "fake",
    pairs: true,
    mainGroups: () => [main],
    isConnected: () => true,
    assistantName: "crab",
    randomBelow: (limit) => (number += 7) % limit,
    deliver: () => undefined,
    clock: { now: () => now },
    publish: async (record) => void records.push(record),
    ...more,
  });
  return {
    store,
    records,
    hear: (message = {}) => onboard({ ...stranger, ...message }),
    told: async () => (await store.outbox.ofChannel("fake", 0, 100)).map(({ text }) => text),
    pass: (ms) => (now += ms),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function bothKinds(limits: RequestLimits): NonNullable<OnboardingOptions["limits"]> {
  return { admission: limits, pairing: limits };
}

const stranger: IncomingMessage = {
  channel: "fake",
  chat: "g1@x.us",
  id: "1",
  sender: { id: "mallory", name: "Mallory" },
  text: "psst @crab, my secret",
  mention: false,
  chatTitle: "Bowling",
};

test("a mention in an unknown chat makes one request in the main group, without a word of what was said", async () => {
  await using rig = await openRig();

  await rig.hear({ text: "no mention" });
  await rig.hear({ channel: "http" });
  await rig.hear();
  await rig.hear({ id: "2" });

  const told = await rig.told();
  expect(told).toEqual([
    expect.stringMatching(
      /^Somebody called "Mallory" mentioned me in "Bowling" \(fake, g1 at x\.us\)\. Answer: \/approve ([2-9A-Z]{5}) \[name\] or \/deny \1$/,
    ),
  ]);
  expect(rig.records).toMatchObject([{ type: "admission.requested", actor: "member:mallory" }]);
  expect(await rig.store.requests.waiting(1_000_000_000)).toBe(1);
});

test("a platform mention and a reply to the agent ask as well; without a main group nobody is asked", async () => {
  await using rig = await openRig();
  await using alone = await openRig({ mainGroups: () => [] });

  await rig.hear({ chat: "a", text: "x", mention: true });
  await rig.hear({ chat: "b", text: "x", quote: { id: "9", toAgent: true } });
  await alone.hear();

  expect(await rig.told()).toEqual([expect.stringContaining("(fake, a)"), expect.stringContaining("(fake, b)")]);
  expect(await alone.store.requests.waiting(1_000_000_000)).toBe(0);
});

test("where nobody reads a main group, its request names the command that answers it", async () => {
  await using rig = await openRig({ isConnected: () => false });

  await rig.hear();

  expect((await rig.told())[0]).toMatch(/ or \/deny (\w{5}), or on the host: crabpot chats approve \1$/);
});

test("names and titles of strangers can neither mention, link, mark up, command nor hide anything", async () => {
  await using rig = await openRig();
  const name = '@everyone\n/approve X "*_~`<b>\u202eevil\u0000 https://evil.example Z̸̨̛̪͚a';

  await rig.hear({ sender: { id: "m", name }, chatTitle: "x".repeat(500), chat: "c\n@all*" });

  const [text = ""] = await rig.told();
  expect(text).toMatch(
    /^Somebody called "everyone approve X b evil https evil ex…" mentioned me in "x{39}…" \(fake, c {2}at all \)\. Answer: /,
  );
  expect(text.split("Answer:")[0]).not.toMatch(/[@*~`<>\n\u202e/]/);
});

test("strangers cannot flood the main group: by many chats, by one sender, or by coming again", async () => {
  await using rig = await openRig({
    limits: bothKinds({ open: 4, openOfSender: 2, perHour: 5, lifetimeMs: 10 * 3_600_000 }),
  });
  const count = async (): Promise<number> => (await rig.told()).length;
  const flood = async (sender: string, from: number): Promise<void> => {
    for (let chat = from; chat < from + 10; chat += 1)
      await rig.hear({ chat: `${sender}-${chat}`, sender: { id: sender, name: sender } });
  };

  await flood("one", 0);
  const ofOne = await count();
  for (const sender of ["two", "three", "four"]) await flood(sender, 0);
  const ofAll = await count();
  rig.pass(11 * 3_600_000);
  for (const sender of ["five", "six", "seven", "eight"]) await flood(sender, 0);

  expect([ofOne, ofAll, await count()]).toEqual([2, 4, 8]);
});

test("there are only this many requests within an hour", async () => {
  await using rig = await openRig({ limits: bothKinds({ open: 9, openOfSender: 9, perHour: 3, lifetimeMs: 1e9 }) });
  const ask = async (chats: readonly string[]): Promise<number> => {
    for (const chat of chats) await rig.hear({ chat });
    return (await rig.told()).length;
  };

  const first = await ask(["a", "b", "c", "d"]);
  rig.pass(3_600_001);
  const second = await ask(["d", "e"]);

  expect([first, second]).toEqual([3, 5]);
});

test("approving is done once however often it is carried out, and never gives a chat what another group has left", async () => {
  await using rig = await openRig();
  const { store } = rig;
  const registry = await openGroupRegistry({
    configured: [main],
    store: store.groups,
    resolve: someStoredGroup,
    prepare: async () => undefined,
  });
  const added: object[] = [];
  const admissions = createAdmissions({
    store,
    registry,
    isNameFree: async ({ name }) => name !== "bowling" && registry.byName(name) === undefined,
    isOffered: () => true,
    assistantName: "crab",
    tries: new CodeTries(store.requests, () => 1_000_000_000),
    now: () => 1_000_000_000,
    chats: { registered: async () => undefined },
    publish: async ({ type, actor, data }) =>
      void (type === "group.added" && added.push({ name: data.name, actor, code: data.code })),
  });
  let seq = 0;
  const say = (command: "approve" | "deny", argument: string) =>
    admissions.answer({
      command,
      argument,
      message: { seq: (seq += 1), channel: "fake", chat: "home", sender: { id: "owner", name: "Owner" } },
    } as PendingCommand);
  await rig.hear();
  const code = /approve (\w+)/.exec((await rig.told())[0] ?? "")?.[1] ?? "";

  await expect(admissions.approve("NOPE1", { name: undefined, actor: "operator" })).rejects.toThrow(
    'There is no request "NOPE1".',
  );
  const bad = [
    await say("approve", "NOPE1"),
    await say("approve", `${code} Bad!`),
    await say("approve", `${code} bowling`),
  ];
  const [first, again] = await Promise.all([say("approve", code.toLowerCase()), say("approve", code)]);

  expect(bad.map(({ settles }) => settles)).toEqual([undefined, undefined, undefined]);
  expect(bad.map(({ text }) => text)).toEqual([
    expect.stringContaining("no request with this code"),
    expect.stringContaining("use at most 64 lower case letters"),
    expect.stringContaining("is or was used by another group"),
  ]);
  expect(first).toMatchObject({
    text: '"Bowling" on fake is now the group "bowling-2". I answer there when I am mentioned.',
    settles: { code, as: "approved" },
    outgoing: [{ group: "bowling-2", chat: "g1@x.us", text: expect.stringContaining("@crab") }],
  });
  expect(again.text).toBe(first.text);
  expect(added).toEqual([{ name: "bowling-2", actor: "member:owner", code }]);
  expect(registry.byName("bowling-2")).toMatchObject({ trigger: "mention", mounts: [], main: false });
});
