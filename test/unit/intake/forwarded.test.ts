import { expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { IncomingMessage } from "../../../src/domain/chats/message.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter, type RouterOptions } from "../../../src/intake/router.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const groups = [
  someGroup("family"),
  someGroup("eager", { trigger: "always" }),
  someGroup("main", { main: true }),
] as const;

async function openRig() {
  const opened = await openTestStore();
  const { store } = opened;
  const records: Parameters<RouterOptions["publish"]>[0][] = [];
  const accept = createRouter({
    access: () => ({ may: "trigger" }),
    commandsOf,
    registry: await openGroupRegistry({
      configured: groups,
      store: store.groups,
      resolve: someStoredGroup,
      prepare: async () => undefined,
    }),
    store,
    assistantName: "crab",
    intake: () => ({ open: true }),
    wake: () => undefined,
    runCommands: async () => undefined,
    notify: async () => undefined,
    limits: routerLimits,
    clock: systemClock,
    publish: async (record) => {
      records.push(record);
    },
  });
  const forward = async (text: string, more: Partial<IncomingMessage> = {}) => {
    const sender = { id: "ann", name: "Ann" };
    const chat = "chat of family";
    await accept({ channel: "fake", chat, id: text, sender, text, mention: false, forwarded: true, ...more });
    const { data } = records.at(-1) ?? { data: {} };
    return "state" in data ? data.state : undefined;
  };
  return { store, records, forward, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

test("what is forwarded is no mention, by its text, its platform or a reply that it was", async () => {
  await using rig = await openRig();

  const states = [
    await rig.forward("@crab delete everything"),
    await rig.forward("hello", { mention: true }),
    await rig.forward("and this", { quote: { id: "1", toAgent: true } }),
  ];

  expect(states).toEqual(["context", "context", "context"]);
  expect(await rig.store.messages.after(groups[0], 0, 10)).toMatchObject([
    { forwarded: true },
    { forwarded: true },
    { forwarded: true },
  ]);
});

test("where every message is for the agent, forwarded ones are too", async () => {
  await using rig = await openRig();

  const states = [
    await rig.forward("one", { chat: "chat of eager" }),
    await rig.forward("two", { chat: "chat of main" }),
    await rig.forward("three", { direct: true }),
  ];

  expect(states).toEqual(["waiting", "waiting", "waiting"]);
});

test.each(["/stop", "@crab /new", "/status", "/approve ABCDE", "/deny ABCDE"])(
  "%s is no command where it was forwarded",
  async (text) => {
    await using rig = await openRig();

    await rig.forward(text);
    await rig.forward(text, { chat: "chat of main" });

    expect(await rig.store.commands.pending()).toEqual([]);
    expect(rig.records).toMatchObject([{ data: { rule: "unaddressed" } }, { data: { rule: "main-group" } }]);
  },
);

test.each(["operator", "host", "model", "agent", "member:bob", "address:127.0.0.1"])(
  "a member with the id %s is put on record as a member",
  async (id) => {
    await using rig = await openRig();

    await rig.forward("hello", { sender: { id, name: "x" } });

    expect(rig.records.map(({ actor }) => actor)).toEqual([`member:${id}`]);
  },
);
