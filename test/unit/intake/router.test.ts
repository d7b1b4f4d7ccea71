import { describe, expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { AcceptMessage } from "../../../src/channels/channel.ts";
import type { Group } from "../../../src/domain/chats/group.ts";
import type { IncomingMessage, OutgoingDraft } from "../../../src/domain/chats/message.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter, type RouterOptions } from "../../../src/intake/router.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { stopping } from "../../contracts/store-setup.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

type AuditRecord = Parameters<RouterOptions["publish"]>[0];

interface Rig extends AsyncDisposable {
  readonly accept: AcceptMessage;
  readonly store: Store;
  readonly woken: string[];
  readonly commands: string[];
  readonly notices: OutgoingDraft[];
  readonly records: AuditRecord[];
}

const family = someGroup("family");
const eager = someGroup("eager", { trigger: "always" });
const main = someGroup("main", { main: true });

async function openRig(
  more: Partial<RouterOptions> = {},
  groups: readonly Group[] = [main, family, eager],
): Promise<Rig> {
  const opened = await openTestStore();
  const { store } = opened;
  const [woken, commands, notices, records] = [
    [] as string[],
    [] as string[],
    [] as OutgoingDraft[],
    [] as AuditRecord[],
  ];
  const registry = await openGroupRegistry({
    configured: groups,
    store: store.groups,
    resolve: someStoredGroup,
    prepare: async () => undefined,
    hasTypedChats: (channel) => channel === "http",
  });
  const accept = createRouter({
    access: () => ({ may: "trigger" }),
    commandsOf,
    registry,
    store,
    assistantName: "crab",
    intake: () => ({ open: true }),
    wake: (group) => woken.push(group),
    runCommands: async (group) => {
      for (const { command, message } of await store.commands.pending(group)) {
        const done = await store.commands.carryOut(message.seq, stopping);
        if (done) commands.push(`${group.name} ${command} ${message.sender.id}`);
      }
    },
    notify: async (draft) => {
      notices.push(draft);
    },
    limits: routerLimits,
    clock: systemClock,
    publish: async (record) => {
      records.push(record);
    },
    ...more,
  });
  return {
    accept,
    store,
    woken,
    commands,
    notices,
    records,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function said(text: string, more: Partial<IncomingMessage> = {}): IncomingMessage {
  const sender = { id: "anna-1", name: "Anna" };
  return { channel: "fake", chat: family.chat, id: text, sender, text, mention: false, ...more };
}

const stored = { outcome: "stored", duplicate: false };

describe("a message is for the agent", () => {
  test.each<[string, string, Partial<IncomingMessage>]>([
    ["in the main group", "main-group", { chat: main.chat }],
    ["in a group where all are", "trigger-always", { chat: eager.chat }],
    ["when the platform says so", "platform-mention", { mention: true }],
    ["when its text names the agent", "text-mention", { text: "what do you think, @Crab?" }],
    ["when it replies to the agent", "reply-to-agent", { quote: { id: "x", toAgent: true } }],
  ])("%s", async (_title, rule, more) => {
    await using rig = await openRig();

    const receipt = await rig.accept(said("hello", more));

    expect(receipt).toEqual(stored);
    expect(rig.records).toMatchObject([{ actor: "member:anna-1", data: { rule, state: "waiting" } }]);
    expect(rig.woken).toHaveLength(1);
  });

  test("when it quotes what the agent said, even if the channel does not know that", async () => {
    await using rig = await openRig();
    const draft = {
      group: "family",
      channel: "fake",
      chat: family.chat,
      kind: "reply",
      text: "hi",
      inReplyTo: [],
    } as const;
    const own = await rig.store.outbox.add({ ...draft, turn: "turn-1" }, 1);

    await rig.accept(said("and now?", { quote: { id: String(own.seq) } }));
    await rig.accept(said("and then?", { quote: { id: "turn-1" } }));
    await rig.accept(said("somebody else's", { quote: { id: "12345", text: "@crab", author: "crab" } }));

    expect(rig.records).toMatchObject([
      { data: { rule: "reply-to-agent" } },
      { data: { rule: "reply-to-agent" } },
      { data: { rule: "unaddressed" } },
    ]);
  });

  test("and not when somebody only talks of it, bears its name or quotes a mention", async () => {
    await using rig = await openRig();

    await rig.accept(said("the crab is nice"));
    await rig.accept(said("hello", { sender: { id: "crab", name: "@crab" } }));
    await rig.accept(said("> @crab\nindeed"));

    const kept = await rig.store.messages.after(family, 0, 10);
    expect(kept.map(({ state }) => state)).toEqual(["context", "context", "context"]);
    expect(rig.woken).toEqual([]);
  });
});

test("a message is on disk when the channel is told so, in the order of the calls", async () => {
  await using rig = await openRig();
  const texts = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? `@crab ${index}` : `chatter ${index}`));

  // Quotes are looked up, which takes longer: later messages must not overtake them.
  await Promise.all(texts.map((text, index) => rig.accept(said(text, index % 2 ? {} : { quote: { id: "7" } }))));

  const kept = await rig.store.messages.after(family, 0, 100);
  expect(kept.map(({ text }) => text)).toEqual(texts);
});

test("a message that comes twice is stored once, wakes once and runs its command once", async () => {
  await using rig = await openRig();

  const first = await rig.accept(said("@crab hello"));
  const second = await rig.accept(said("@crab hello"));
  await rig.accept(said("/new"));
  const again = await rig.accept(said("/new"));

  expect([first, second, again]).toEqual([stored, { ...stored, duplicate: true }, { ...stored, duplicate: true }]);
  expect(rig.woken).toEqual(["family"]);
  expect(rig.commands).toEqual(["family new anna-1"]);
  expect(rig.records).toHaveLength(2);
  expect(await rig.store.chats.list()).toMatchObject([{ chat: family.chat, group: "family", messages: 2 }]);
});

test("the same id of another member is another message", async () => {
  await using rig = await openRig();

  await rig.accept(said("@crab one", { id: "1" }));
  const other = await rig.accept(said("@crab two", { id: "1", sender: { id: "bert-2", name: "Anna" } }));

  expect(other).toEqual(stored);
  expect(await rig.store.messages.after(family, 0, 10)).toHaveLength(2);
});

test("a command is carried out and never shown to the model", async () => {
  await using rig = await openRig();

  await rig.accept(said("/status"));
  await rig.accept(said("@crab /STOP"));
  await rig.accept(said("@crab please /stop"));

  expect(rig.commands).toEqual(["family status anna-1", "family stop anna-1"]);
  expect((await rig.store.messages.after(family, 0, 10)).map(({ text }) => text)).toEqual(["@crab please /stop"]);
});

test("of a chat that is no group only its metadata is kept", async () => {
  await using rig = await openRig();

  const receipt = await rig.accept(said("@crab my secret", { chat: "stranger" }));

  expect(receipt).toEqual({ outcome: "unknown-chat" });
  expect(await rig.store.chats.list()).toMatchObject([{ channel: "fake", chat: "stranger", group: undefined }]);
  expect(JSON.stringify(await rig.store.chats.list())).not.toContain("secret");
  expect(rig.woken).toEqual([]);
});

test("a group can be made of an unknown chat where that is wanted", async () => {
  await using rig = await openRig({ autoRegister: async ({ chat }) => (chat === "new" ? family : undefined) });

  expect(await rig.accept(said("@crab hello", { chat: "new" }))).toEqual(stored);
  expect(await rig.accept(said("@crab hello", { chat: "other" }))).toEqual({ outcome: "unknown-chat" });
});

test("a message that comes under the group's name and under its chat's is the same one", async () => {
  const typed = someGroup("typed", { channel: "http", chat: "room-1" });
  await using rig = await openRig({}, [typed]);

  await rig.accept(said("@crab hello", { channel: "http", chat: "room-1" }));
  const again = await rig.accept(said("@crab hello", { channel: "http", chat: "typed" }));

  expect(again).toEqual({ ...stored, duplicate: true });
});

test("nothing is taken in while the intake is stopped", async () => {
  await using rig = await openRig({ intake: () => ({ open: false, code: "disk-full", reason: "no room" }) });

  const receipt = await rig.accept(said("@crab hello"));

  const refused = { outcome: "refused", code: "disk-full", reason: "no room", retryAfterS: 5, stopped: true };
  expect(receipt).toEqual(refused);
  expect(await rig.store.messages.after(family, 0, 10)).toEqual([]);
});

test("an answer by its code is a command in every group; what only resembles one is a message like any other", async () => {
  await using rig = await openRig({ runCommands: async () => undefined });

  await rig.accept(said("/approve K7Q2M family", { chat: main.chat }));
  await rig.accept(said("@crab /DENY k7q2m", { chat: main.chat, id: "2" }));
  await rig.accept(said("/approve K7Q2M", { id: "3" }));
  await rig.accept(said("/applaud", { chat: main.chat, id: "4" }));

  expect(await rig.store.commands.pending()).toMatchObject([
    { command: "approve", argument: "K7Q2M family", message: { group: "main" } },
    { command: "deny", argument: "k7q2m" },
    { command: "approve", argument: "K7Q2M" },
  ]);
  expect(rig.records).toMatchObject([
    { data: { rule: "command" } },
    { data: { rule: "command" } },
    { data: { rule: "command" } },
    { data: { rule: "main-group" } },
  ]);
});

test("what a stranger says leaves the name of the chat, and is shown to who onboards", async () => {
  const strangers: string[] = [];
  await using rig = await openRig({ onStranger: async ({ chat }) => void strangers.push(chat) });

  await rig.accept(said("my secret", { chat: "elsewhere", chatTitle: "Bowling\u0000" }));

  expect(strangers).toEqual(["elsewhere"]);
  expect(await rig.store.chats.list()).toMatchObject([{ chat: "elsewhere", title: "Bowling", group: undefined }]);
});

test("a full queue refuses what is for the agent, says so once in the chat, and takes chatter and commands still", async () => {
  await using rig = await openRig({ limits: { ...routerLimits, waitingPerGroup: 2 } });
  for (const text of ["@crab 1", "@crab 2"]) await rig.accept(said(text));

  const refused = [await rig.accept(said("@crab 3")), await rig.accept(said("@crab 4"))];
  const others = [await rig.accept(said("chatter")), await rig.accept(said("/new"))];
  const elsewhere = await rig.accept(said("hello", { chat: main.chat }));

  const refusal = { outcome: "refused", code: "queue-full", retryAfterS: 5, stopped: false };
  expect(refused).toMatchObject([refusal, refusal]);
  expect([...others, elsewhere]).toEqual([stored, stored, stored]);
  expect(rig.notices).toMatchObject([{ group: "family", chat: family.chat, kind: "notice" }]);
  expect(rig.records.filter(({ type }) => type === "limit.reached")).toHaveLength(1);
});

test("a queue that has room again takes messages again, and says so again when it is full the next time", async () => {
  await using rig = await openRig({ limits: { ...routerLimits, waitingPerGroup: 1 } });
  await rig.accept(said("@crab 1"));
  await rig.accept(said("@crab 2"));

  await rig.accept(said("/stop"));
  const taken = await rig.accept(said("@crab 2"));
  await rig.accept(said("@crab 3"));

  expect(taken).toEqual(stored);
  expect(rig.notices).toHaveLength(2);
});

test("a text that is too long is refused for good, one that is just short enough is kept whole", async () => {
  await using rig = await openRig();
  const longest = "x".repeat(routerLimits.textChars);

  const refused = await rig.accept(said("long", { text: `${longest}y` }));
  await rig.accept(said("fits", { text: longest }));

  expect(refused).toMatchObject({ outcome: "refused", retryAfterS: 0, stopped: false });
  expect((await rig.store.messages.after(family, 0, 10)).map(({ text }) => text)).toEqual([longest]);
});

test("characters that break programs are cleaned out of whatever a stranger can choose", async () => {
  await using rig = await openRig();
  const quote = { id: "q\0", author: "\ud800Bert", text: `${"q".repeat(4095)}🦀${"q".repeat(100)}` };

  await rig.accept(said("x", { text: "a\0b\udc00c 🦀", sender: { id: "i\0d", name: `A\0${"n".repeat(300)}` }, quote }));

  const [kept] = await rig.store.messages.after(family, 0, 10);
  expect(kept?.text).toBe("ab\ufffdc 🦀");
  expect(kept?.sender).toEqual({ id: "id", name: `A${"n".repeat(255)}` });
  expect(kept?.quote).toMatchObject({ id: "q", text: "q".repeat(4095) });
});

test("what will be answered is told about before anybody is woken for it, what is only context is not", async () => {
  const told: string[] = [];
  const listener: RouterOptions["listener"] = {
    coming: ({ name }, { text }) => void told.push(`${name}: ${text}`),
    received: () => undefined,
  };
  await using rig = await openRig({ listener, wake: () => told.push("woken") });
  await rig.accept(said("for nobody"));
  await rig.accept(said("@crab hello"));

  expect(told).toEqual(["family: @crab hello", "woken"]);
});

test("a message whose record fails is reported as not received, yet is not lost: the agent is woken for it", async () => {
  await using rig = await openRig({ publish: () => Promise.reject(new Error("the log is full")) });

  await expect(rig.accept(said("@crab hello"))).rejects.toThrow("the log is full");

  expect(await rig.store.messages.waitingCount(family)).toBe(1);
  expect(rig.woken).toEqual(["family"]);
});
