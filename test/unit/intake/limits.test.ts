import { expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { AcceptMessage } from "../../../src/channels/channel.ts";
import type { IncomingMessage, OutgoingDraft } from "../../../src/domain/chats/message.ts";
import type { Clock } from "../../../src/lib/time/clock.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { type RouterLimits, routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter } from "../../../src/intake/router.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

interface Rig extends AsyncDisposable {
  readonly accept: AcceptMessage;
  readonly store: Store;
  readonly notices: OutgoingDraft[];
  readonly limitsHit: string[];
  /** Time stands still but for this. */
  pass(seconds: number): void;
}

const family = someGroup("family", { trigger: "always" });
const work = someGroup("work", { trigger: "always" });

async function openRig(limits: Partial<RouterLimits>): Promise<Rig> {
  const opened = await openTestStore();
  const { store } = opened;
  const notices: OutgoingDraft[] = [];
  const limitsHit: string[] = [];
  let nowMs = 1_000_000;
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };
  const configured = [family, work];
  const accept = createRouter({
    access: () => ({ may: "trigger" }),
    commandsOf,
    registry: await openGroupRegistry({
      configured,
      store: store.groups,
      resolve: someStoredGroup,
      prepare: async () => undefined,
    }),
    store,
    assistantName: "crab",
    intake: () => ({ open: true }),
    wake: () => undefined,
    runCommands: async () => undefined,
    notify: async (draft) => {
      notices.push(draft);
    },
    limits: { ...routerLimits, ...limits },
    clock,
    publish: async ({ type, data }) => {
      if (type === "limit.reached") limitsHit.push(data.limit);
    },
  });
  const pass = (seconds: number): void => {
    nowMs += seconds * 1000;
  };
  return { accept, store, notices, limitsHit, pass, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

function said(id: string, more: Partial<IncomingMessage> = {}): IncomingMessage {
  const sender = { id: "ann", name: "Ann" };
  return { channel: "fake", chat: family.chat, id, sender, text: id, mention: false, ...more };
}

const stored = { outcome: "stored", duplicate: false };
const known = { outcome: "stored", duplicate: true };

test("a sender who writes too fast is told when to go on, the chat is told once, others are not held up", async () => {
  await using rig = await openRig({ perSenderPerMinute: 2 });
  const first = [await rig.accept(said("1")), await rig.accept(said("2"))];

  const refused = [await rig.accept(said("3")), await rig.accept(said("4"))];
  const others = [
    await rig.accept(said("5", { sender: { id: "bob", name: "Ann" } })),
    await rig.accept(said("6", { chat: work.chat })),
  ];
  rig.pass(30);
  const later = [await rig.accept(said("3")), await rig.accept(said("4"))];

  const refusal = { outcome: "refused", code: "sender-rate", retryAfterS: 30, stopped: false };
  expect(first).toEqual([stored, stored]);
  expect(refused).toMatchObject([refusal, refusal]);
  expect(others).toEqual([stored, stored]);
  expect(later).toMatchObject([stored, refusal]);
  expect(rig.notices).toMatchObject([{ group: "family", kind: "notice", inReplyTo: [] }]);
  expect(rig.limitsHit).toEqual(["messages-per-sender"]);
});

test("a flood that comes after a calm minute is told again", async () => {
  await using rig = await openRig({ perSenderPerMinute: 1 });
  for (const id of ["1", "2", "3"]) await rig.accept(said(id));

  rig.pass(60);
  for (const id of ["4", "5", "6"]) await rig.accept(said(id));

  expect(rig.notices).toHaveLength(2);
});

test("what is delivered again is acknowledged whatever limit is reached, and does not count", async () => {
  await using rig = await openRig({ perSenderPerMinute: 2, waitingPerGroup: 1 });
  await rig.accept(said("1"));
  const again = [];
  for (let times = 0; times < 5; times += 1) again.push(await rig.accept(said("1")));

  const full = await rig.accept(said("2"));
  await rig.accept(said("3", { chat: work.chat }));
  await rig.accept(said("4", { chat: work.chat, sender: { id: "bob", name: "Bob" } }));

  expect(again).toEqual(Array.from({ length: 5 }, () => known));
  expect(full).toMatchObject({ outcome: "refused", code: "queue-full" });
  expect(await rig.accept(said("3", { chat: work.chat }))).toEqual(known);
});

test("all groups together have a bound, which is counted anew when turns have taken messages", async () => {
  await using rig = await openRig({ waitingTotal: 2 });
  await rig.accept(said("1"));
  await rig.accept(said("2", { chat: work.chat }));

  const refused = [await rig.accept(said("3")), await rig.accept(said("4", { chat: work.chat }))];
  await rig.store.commands.giveUpOld(work, {
    at: 1,
    before: Number.MAX_SAFE_INTEGER,
    tell: () => ({ reason: "", lastStep: { body: { kind: "user", text: "" }, tokens: 0, at: 0 }, outgoing: [] }),
  });
  const taken = [await rig.accept(said("3")), await rig.accept(said("4", { chat: work.chat }))];

  const refusal = { outcome: "refused", code: "all-queues-full", stopped: false };
  expect(refused).toMatchObject([refusal, refusal]);
  expect(taken).toMatchObject([stored, refusal]);
  expect(rig.notices.map(({ group }) => group)).toEqual(["family", "work"]);
});
