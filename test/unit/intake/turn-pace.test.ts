import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { AcceptMessage } from "../../../src/channels/channel.ts";
import type { IncomingMessage, OutgoingDraft } from "../../../src/domain/chats/message.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { type PaceLimits, routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter, type RouterOptions } from "../../../src/intake/router.ts";
import { TurnPace } from "../../../src/intake/limits/turn-pace.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";
import { byMessage } from "../../contracts/store-setup.ts";
import { ofMember } from "../../support/lineages.ts";

const family = someGroup("family", { trigger: "always" });
const noon = Date.UTC(2026, 0, 15, 12);
const second = 1_000;
const minute = 60 * second;

interface Rig {
  readonly accept: AcceptMessage;
  readonly pace: TurnPace;
  readonly notices: OutgoingDraft[];
  readonly records: Parameters<RouterOptions["publish"]>[0][];
  /** Says something; what came of it is its state in the store. */
  say(by: string, more?: Partial<IncomingMessage>): Promise<string | undefined>;
  /** A turn that takes what waits, and lasts a second besides what happens meanwhile. False when nothing waits. */
  turn(meanwhile?: () => Promise<void>): Promise<boolean>;
  pass(ms: number): void;
}

/** A host on this store; a second one on the same store is the same host after a restart. */
async function start(store: Store, limits: PaceLimits, from = noon): Promise<Rig> {
  let nowMs = from;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const notices: OutgoingDraft[] = [];
  const records: Rig["records"] = [];
  const pace = new TurnPace({ turns: store.turns, limitsOf: () => limits, clock });
  const accept = createRouter({
    access: () => ({ may: "trigger" }),
    commandsOf,
    registry: await openGroupRegistry({
      configured: [family],
      store: store.groups,
      resolve: someStoredGroup,
      prepare: async () => undefined,
    }),
    store,
    assistantName: "crab",
    intake: () => ({ open: true }),
    wake: () => undefined,
    runCommands: async () => undefined,
    pace,
    notify: async (draft) => {
      notices.push(draft);
    },
    limits: routerLimits,
    clock,
    publish: async (record) => {
      records.push(record);
    },
  });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  const turn = async (meanwhile?: () => Promise<void>): Promise<boolean> => {
    const waiting = await store.messages.waiting(family, 200);
    const last = waiting.at(-1);
    if (!last) return false;
    const { id: session } = await store.sessions.open("main:fake:chat", "family");
    const step = { body: { kind: "user", text: "" }, tokens: 1, at: nowMs } as const;
    const takes = { messages: waiting.map(({ seq }) => seq), cursor: last.seq, lineage: ofMember };
    const begins = { id: randomUUID(), session, group: "family", conversation: 1, ...byMessage, at: nowMs };
    const begun = await store.turns.begin(begins, { ...step, takes });
    pace.began(begun.turn, waiting);
    await meanwhile?.();
    pass(second);
    await store.turns.finish(begun.turn.id, { state: "done", at: nowMs, steps: [], outgoing: [] });
    pace.ended(begun.turn);
    return true;
  };
  const say = async (by: string, more: Partial<IncomingMessage> = {}): Promise<string | undefined> => {
    const id = randomUUID();
    const sender = { id: by, name: by };
    await accept({ channel: "fake", chat: family.chat, id, sender, text: "go on", mention: false, ...more });
    return (await store.messages.after(family, 0, 10_000)).find((message) => message.id === id)?.state;
  };
  return { accept, pace, notices, records, say, turn, pass };
}

/** Each message is said so long after the turn before has ended. Says how many turns it came to. */
async function converse(rig: Rig, senders: readonly string[], rounds: number, pauseMs = second): Promise<number> {
  let turns = 0;
  for (let round = 0; round < rounds; round += 1) {
    rig.pass(pauseMs);
    await rig.say(senders[round % senders.length] ?? "");
    if (await rig.turn()) turns += 1;
  }
  return turns;
}

const loop: PaceLimits = { turnsPerHour: 0, loopTurns: 5 };

test.each([
  ["one bot", ["a"]],
  ["two bots", ["a", "b"]],
  ["three bots", ["a", "b", "c"]],
])(
  "%s that answer each answer at once are stopped after this many turns, and what they say is kept",
  async (_title, senders) => {
    await using opened = await openTestStore();
    const rig = await start(opened.store, loop);

    const turns = await converse(rig, senders, 20);

    const kept = await opened.store.messages.after(family, 0, 100);
    expect(turns).toBe(5);
    expect(kept.map(({ state }) => state)).toEqual([
      ...Array.from({ length: 5 }, () => "answered"),
      ...Array.from({ length: 15 }, () => "context"),
    ]);
    expect(rig.notices).toMatchObject([{ group: "family", kind: "notice", inReplyTo: [kept[5]?.id] }]);
    expect(rig.records.filter(({ type }) => type === "limit.reached")).toMatchObject([
      { actor: expect.stringMatching(/^member:/), data: { limit: "loop", allowed: 5 } },
    ]);
    expect(rig.records.at(-1)).toMatchObject({ type: "message.received", data: { state: "context", held: "loop" } });
  },
);

test("a bot that changes its name with each message is the same sender", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);

  let turns = 0;
  for (let round = 0; round < 20; round += 1) {
    rig.pass(second);
    await rig.say("a", { sender: { id: "a", name: `bot ${round}` } });
    if (await rig.turn()) turns += 1;
  }

  expect(turns).toBe(5);
});

test("a flood that never lets a turn end without a new message is a loop as well", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);

  let turns = 0;
  for (let round = 0; round < 20; round += 1) {
    await rig.say("a");
    await rig.say("b");
    if (await rig.turn()) turns += 1;
  }

  expect(turns).toBe(5);
});

test.each([
  // The sixth turn was asked for before the fifth was over.
  ["a bot that never waits for the answer is stopped", 0, 6],
  ["people who say what is next in the middle of long turns are not", 6 * second, 20],
])("%s", async (_title, untilEndMs, answered) => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);
  await rig.say("a");

  let turns = 0;
  for (let round = 0; round < 20; round += 1) {
    const meanwhile = async (): Promise<void> => {
      await rig.say("a");
      rig.pass(untilEndMs);
    };
    if (await rig.turn(meanwhile)) turns += 1;
  }

  expect(turns).toBe(answered);
});

test("people who take their time, and a lively chat of many, are never stopped", async () => {
  await using opened = await openTestStore();
  const slow = await start(opened.store, loop);
  expect(await converse(slow, ["a"], 30, 6 * second)).toBe(30);

  await using other = await openTestStore();
  const lively = await start(other.store, loop);
  expect(await converse(lively, ["a", "b", "c", "d"], 40)).toBe(40);
});

test("the pause is a minute, and twice as long each time it comes again within an hour, up to half an hour", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);

  const pauses = [];
  for (let times = 0; times < 7; times += 1) {
    await converse(rig, ["a", "b"], 6);
    pauses.push(Math.round((rig.pace.resting("family")?.ms ?? 0) / minute));
    while (rig.pace.resting("family")) rig.pass(30 * second);
  }
  rig.pass(61 * minute);
  await converse(rig, ["a", "b"], 6);

  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect(Math.round((rig.pace.resting("family")?.ms ?? 0) / minute)).toBe(1);
  expect(rig.notices).toHaveLength(8);
});

test("a message of somebody else ends the pause and is answered; those of the loop are stopped again", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);
  await converse(rig, ["a", "b"], 8);
  rig.pass(second);

  const held = await rig.say("a");
  const human = await rig.say("ann");
  const answered = await rig.turn();
  const again = await converse(rig, ["a", "b"], 20);

  expect([held, human, answered]).toEqual(["context", "waiting", true]);
  expect(again).toBe(5);
  expect(rig.notices).toHaveLength(2);
});

test("somebody who speaks for the first time in the moment of the loop is answered", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);
  await converse(rig, ["a", "b"], 5);

  expect(await rig.say("ann")).toBe("waiting");
});

test("beyond this many turns within an hour the agent only reads along, whoever speaks, until the hour has passed", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { turnsPerHour: 6, loopTurns: 0 });
  const senders = Array.from({ length: 10 }, (_, index) => `m${index}`);

  const turns = await converse(rig, senders, 10, minute);
  const resting = rig.pace.resting("family");
  rig.pass(60 * minute);
  const later = await converse(rig, senders, 1);

  expect(turns).toBe(6);
  expect(resting?.limit).toBe("turns-per-hour");
  expect(later).toBe(1);
  expect(rig.notices).toMatchObject([{ text: expect.stringContaining("6 times within an hour") }]);
  expect(rig.records.filter(({ type }) => type === "limit.reached")).toMatchObject([
    { data: { limit: "turns-per-hour", allowed: 6 } },
  ]);
});

test("messages that steer a running turn are no their own turns", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { turnsPerHour: 3, loopTurns: 3 });

  const states = [];
  for (let times = 0; times < 30; times += 1) states.push(await rig.say("ann"));

  expect(new Set(states)).toEqual(new Set(["waiting"]));
});

test("a restart neither forgets the turns of the last hour nor the loop that was under way", async () => {
  await using opened = await openTestStore();
  const hourly = { turnsPerHour: 6, loopTurns: 0 };
  await converse(await start(opened.store, hourly), ["a"], 5, minute);
  const after = await start(opened.store, hourly, noon + 10 * minute);
  expect(await converse(after, ["b"], 4)).toBe(1);

  await using other = await openTestStore();
  await converse(await start(other.store, loop), ["a", "b"], 4);
  const looping = await start(other.store, loop, noon + 8 * second);
  expect(await converse(looping, ["a", "b"], 10)).toBe(1);
});

test("what was not stored counts for nothing: a message that comes again neither ends a pause nor begins one", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, loop);
  await converse(rig, ["ann"], 1);
  const [known] = await opened.store.messages.after(family, 0, 1);
  rig.pass(minute);
  await converse(rig, ["a", "b"], 8);

  await rig.accept({
    channel: "fake",
    chat: family.chat,
    id: known?.id ?? "",
    sender: { id: "ann", name: "Ann" },
    text: "go on",
    mention: false,
  });

  expect(rig.pace.resting("family")?.limit).toBe("loop");
});
