import { writeFile } from "node:fs/promises";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { AcceptMessage } from "../../../src/channels/channel.ts";
import type { IncomingAttachment, IncomingMessage, OutgoingDraft } from "../../../src/domain/chats/message.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { type DayBudget, routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter, type RouterOptions } from "../../../src/intake/router.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

interface Rig {
  readonly accept: AcceptMessage;
  readonly notices: OutgoingDraft[];
  readonly records: Parameters<RouterOptions["publish"]>[0][];
  /** Bytes of files that might be fetched for each message that had some. */
  readonly rooms: number[];
}

const names = ["family", "work", "club"] as const;
const [family, work, club] = names.map((name) => someGroup(name));
const noon = Date.UTC(2026, 0, 15, 12);
const day = 24 * 3_600_000;
const plenty: DayBudget = { messages: 1_000, bytes: 1e9, attachmentBytes: 1e9 };

/** A host on this store; a second one on the same store is the same host after a restart. */
async function start(
  store: Store,
  limits: { group?: Partial<DayBudget>; member?: Partial<DayBudget> },
  now: () => number = () => noon,
): Promise<Rig> {
  const rig: Omit<Rig, "accept"> = { notices: [], records: [], rooms: [] };
  const configured = names.map((name) => someGroup(name));
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
    fetchAll: async (_group, attachments, roomBytes) => {
      rig.rooms.push(roomBytes);
      return attachments.map(({ kind, bytes = 0 }) =>
        bytes <= roomBytes
          ? { kind, file: { path: "/workspace/group/inbox/x", mimeType: "image/png", bytes } }
          : { kind, failure: "no room" },
      );
    },
    notify: async (draft) => {
      rig.notices.push(draft);
    },
    limits: {
      ...routerLimits,
      perSenderPerMinute: 1_000_000,
      perGroupPerDay: { ...plenty, ...limits.group },
      perMemberPerDay: { ...plenty, ...limits.member },
    },
    clock: { now, monotonic: now },
    publish: async (record) => {
      rig.records.push(record);
    },
  });
  return { accept, ...rig };
}

let count = 0;
function said(more: Partial<IncomingMessage> & { by?: string } = {}): IncomingMessage {
  count += 1;
  const { by = "ann", ...rest } = more;
  const sender = { id: by, name: by };
  return { channel: "fake", chat: family?.chat ?? "", id: `m${count}`, sender, text: "hello", mention: false, ...rest };
}

function picture(bytes: number): IncomingAttachment {
  return { kind: "image", mimeType: "image/png", bytes, fetch: (path) => writeFile(path, "") };
}

const stored = { outcome: "stored", duplicate: false };
const refused = { outcome: "refused", code: "daily-limit", retryAfterS: 12 * 3600, lasting: true, stopped: false };

test("a member who has sent as many messages as one may in a day is kept out in all groups, and nobody else is", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { member: { messages: 3 } });
  for (const { chat } of [family, work, club].flatMap((group) => group ?? [])) await rig.accept(said({ chat }));

  const ann = [await rig.accept(said()), await rig.accept(said({ chat: work?.chat ?? "" }))];
  const renamed = await rig.accept(said({ sender: { id: "ann", name: "Somebody else" } }));
  const bob = [await rig.accept(said({ by: "bob" })), await rig.accept(said({ by: "bob", chat: work?.chat ?? "" }))];

  expect([...ann, renamed]).toMatchObject([refused, refused, refused]);
  expect(bob).toEqual([stored, stored]);
  expect(rig.notices).toMatchObject([
    { group: "family", kind: "notice", text: expect.stringContaining('"ann" has sent') },
  ]);
  expect(rig.records.filter(({ type }) => type === "limit.reached")).toMatchObject([
    { group: "family", actor: "member:ann", data: { limit: "messages-per-member-per-day", allowed: 3 } },
  ]);
});

test("a group at its limit hurts only itself, however many members it has", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { group: { messages: 3 } });
  for (const by of ["ann", "bob", "cid"]) await rig.accept(said({ by }));

  const more = [await rig.accept(said({ by: "dan" })), await rig.accept(said({ by: "eve" }))];
  const elsewhere = await rig.accept(said({ chat: work?.chat ?? "" }));

  expect(more).toMatchObject([refused, refused]);
  expect(elsewhere).toEqual(stored);
  expect(rig.notices).toMatchObject([{ group: "family", text: expect.stringContaining("This group has sent") }]);
});

test("what is stored of a message counts in UTF-8: text, names, ids and quotes", async () => {
  await using opened = await openTestStore();
  const floods: Partial<IncomingMessage>[] = [
    { text: "€".repeat(400) },
    { text: "x", quote: { id: "q", text: "€".repeat(400) } },
    { text: "x", id: "€".repeat(400) },
    { text: "x", sender: { id: "ann", name: "€".repeat(256) }, quote: { id: "€".repeat(200) } },
    { text: "x", sender: { id: "€".repeat(400), name: "x" } },
    { text: "", attachments: [1, 2].map(() => ({ ...picture(1), name: "€".repeat(256) })) },
  ];

  for (const flood of floods) {
    const rig = await start(opened.store, { group: { bytes: 1_000 } });
    expect(await rig.accept(said({ ...flood, chat: club?.chat ?? "" }))).toMatchObject(refused);
  }
});

test("for all messages, no more of a day is stored than its budget, over restarts and many at once", async () => {
  const message = fc.record({
    by: fc.constantFrom("ann", "bob", "cid"),
    chat: fc.constantFrom(...names.map((name) => `chat of ${name}`)),
    text: fc.string({ unit: "grapheme", maxLength: 60 }),
  });
  const runs = fc.array(fc.array(message, { maxLength: 12 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(runs, async (restarts) => {
      await using opened = await openTestStore();
      const limits = { group: { messages: 7, bytes: 700 }, member: { messages: 6, bytes: 500 } };

      for (const said1 of restarts) {
        const rig = await start(opened.store, limits);
        await Promise.all(said1.map((each) => rig.accept(said(each))));
      }

      const kept = (
        await Promise.all(names.map((name) => opened.store.messages.after(someGroup(name), 0, 1_000)))
      ).flat();
      for (const name of names)
        within(
          kept.filter(({ group }) => group === name),
          limits.group,
        );
      for (const by of ["ann", "bob", "cid"])
        within(
          kept.filter(({ sender }) => sender.id === by),
          limits.member,
        );
    }),
    { numRuns: 25 },
  );
});

function within(
  messages: readonly { readonly text: string }[],
  { messages: most, bytes }: { messages: number; bytes: number },
): void {
  expect(messages.length).toBeLessThanOrEqual(most);
  expect(messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(bytes);
}

test("a restart neither gives a new budget nor tells the chat again; a new day does both", async () => {
  await using opened = await openTestStore();
  const limits = { member: { messages: 1 } };
  const before = await start(opened.store, limits);
  await before.accept(said());
  await before.accept(said());

  const after = await start(opened.store, limits);
  const again = await after.accept(said());
  const tomorrow = await start(opened.store, limits, () => noon + day);
  const next = [await tomorrow.accept(said()), await tomorrow.accept(said())];

  expect(again).toMatchObject(refused);
  expect(after.notices).toEqual([]);
  expect(next).toMatchObject([stored, refused]);
  expect(tomorrow.notices).toHaveLength(1);
});

test("chat commands still work for whoever is at a limit, but not for ever", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { member: { messages: 1 } });
  await rig.accept(said());

  const commands = [];
  for (let times = 0; times < 101; times += 1) commands.push(await rig.accept(said({ text: "/stop" })));

  expect(await rig.accept(said())).toMatchObject(refused);
  expect(commands.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => stored));
  expect(commands.at(-1)).toMatchObject(refused);
});

test("a message that comes again is a duplicate whatever limit is reached, and costs nothing", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { member: { messages: 2 } });
  const first = said();
  await rig.accept(first);

  const again = [];
  for (let times = 0; times < 5; times += 1) again.push(await rig.accept(first));
  const second = await rig.accept(said());
  const known = await rig.accept(first);

  expect(again).toEqual(Array.from({ length: 5 }, () => ({ outcome: "stored", duplicate: true })));
  expect(second).toEqual(stored);
  expect(known).toEqual({ outcome: "stored", duplicate: true });
});

test("beyond the day's sum of files messages come without theirs, and the chat is told once", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { member: { attachmentBytes: 1_000 } });

  const receipts = [];
  for (const bytes of [600, 600, 400, 1]) receipts.push(await rig.accept(said({ attachments: [picture(bytes)] })));
  const other = await rig.accept(said({ by: "bob", attachments: [picture(600)] }));

  expect([...receipts, other]).toEqual(Array.from({ length: 5 }, () => stored));
  const kept = await opened.store.messages.after(someGroup("family"), 0, 10);
  expect(kept.map(({ attachments }) => attachments?.[0]?.file?.bytes)).toEqual([600, undefined, 400, undefined, 600]);
  expect(rig.notices).toMatchObject([{ text: expect.stringContaining("reached today's limit for files") }]);
});

test("files that are fetched at the same time in several groups share one sum", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, { member: { attachmentBytes: 1_000 } });

  await Promise.all(
    names.map((name) => rig.accept(said({ chat: `chat of ${name}`, attachments: [picture(600), picture(300)] }))),
  );

  const fetched = (await Promise.all(names.map((name) => opened.store.messages.after(someGroup(name), 0, 10))))
    .flat()
    .flatMap(({ attachments = [] }) => attachments.map(({ file }) => file?.bytes ?? 0));
  expect(fetched.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(1_000);
});

test("chats that are no group leave no more than this many rows a day", async () => {
  await using opened = await openTestStore();
  const rig = await start(opened.store, {});

  const strangers = Array.from({ length: 20_010 }, (_, index) => said({ chat: `stranger ${index}` }));
  const receipts = await Promise.all(strangers.map((message) => rig.accept(message)));

  const noted = (index: number) => opened.store.chats.get("fake", `stranger ${index}`);
  expect(new Set(receipts.map(({ outcome }) => outcome))).toEqual(new Set(["unknown-chat"]));
  expect([await noted(0), await noted(19_999)]).toMatchObject([{ messages: 1 }, { messages: 1 }]);
  expect([await noted(20_000), await noted(20_009)]).toEqual([undefined, undefined]);
});
