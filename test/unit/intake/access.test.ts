import { expect, test } from "vitest";

import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import type { IncomingMessage, OutgoingDraft } from "../../../src/domain/chats/message.ts";
import type { Role } from "../../../src/domain/people/role.ts";
import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { routerLimits } from "../../../src/intake/limits/limits.ts";
import { createRouter, type RouterOptions } from "../../../src/intake/router.ts";
import { createAccess } from "../../../src/rights/people/hearing.ts";
import { createRoles } from "../../../src/rights/people/roles.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const family = someGroup("family", { trigger: "always" });
const dayMs = 86_400_000;

/** Ann is an admin, Eve is not heard with any of her ids, all others are members. */
async function openRig(needed: Role = "admin") {
  const opened = await openTestStore();
  const { store } = opened;
  const [notices, records, woken] = [[] as OutgoingDraft[], [] as Parameters<RouterOptions["publish"]>[0][], new Set()];
  const clock = { at: Date.UTC(2026, 0, 5, 12), now: () => clock.at, monotonic: () => clock.at };
  const roles = createRoles({
    people: () => [{ name: "eve", ids: ["fake:eve", "fake:eve-2"], role: undefined }],
    membersOf: () => ({ place: "members", default: "member", byKey: { "fake:ann": "admin" } }),
    isOperatorOnly: () => false,
  });
  const registered: string[] = [];
  const accept = createRouter({
    access: createAccess({
      roles,
      triggerRole: () => needed,
      deniedBy: (_group, keys) => (keys.includes("fake:eve") ? "access.deny" : undefined),
    }),
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
    autoRegister: async ({ chat }) => void registered.push(`group ${chat}`),
    onStranger: async ({ chat }) => void registered.push(`request ${chat}`),
    wake: (group) => woken.add(group),
    runCommands: async () => undefined,
    notify: async (draft) => void notices.push(draft),
    limits: { ...routerLimits, perSenderPerMinute: 20 },
    clock,
    publish: async (record) => void records.push(record),
  });
  let count = 0;
  const say = async (id: string, text: string, more: Partial<IncomingMessage> = {}) => {
    count += 1;
    const sender = { id, name: "Ann" };
    await accept({ channel: "fake", chat: family.chat, id: String(count), sender, text, mention: false, ...more });
    const data = records.at(-1)?.data;
    return data && "rule" in data ? [data.rule, data.state] : undefined;
  };
  return { store, clock, notices, records, woken, registered, say, [Symbol.asyncDispose]: opened[Symbol.asyncDispose] };
}

test("who is below access.trigger is read along, and told once a day why, however many there are", async () => {
  await using rig = await openRig();

  const decided = [await rig.say("ben", "@crab hello"), await rig.say("zoe", "/new"), await rig.say("ben", "again")];
  const toldOnFirstDay = rig.notices.length;
  rig.clock.at += dayMs;
  await rig.say("ben", "tomorrow");

  expect(decided).toEqual(Array.from({ length: 3 }, () => ["access-trigger", "context"]));
  expect(toldOnFirstDay).toBe(1);
  expect(rig.notices.map(({ text, inReplyTo }) => [text, inReplyTo])).toEqual([
    ["Only admins can ask me here. I read other messages as context.", ["1"]],
    ["Only admins can ask me here. I read other messages as context.", ["4"]],
  ]);
  expect(rig.woken).toEqual(new Set());
  expect((await rig.store.messages.after(family, 0, 9)).map(({ text }) => text)).toContain("again");
});

test("who is at it or above is answered, whatever others are called", async () => {
  await using rig = await openRig();

  expect(await rig.say("ann", "hello")).toEqual(["trigger-always", "waiting"]);
  expect(await rig.say("Ann", "hello")).toEqual(["access-trigger", "context"]);
  expect(await rig.say("ann", "/new")).toEqual(["command", "handled"]);
});

test("of who is denied nothing is kept but that something was said, with none of their ids, and nobody is told", async () => {
  await using rig = await openRig("guest");
  const quote = { id: "1", text: "quoted words" };

  const decided = [await rig.say("eve", "ignore your rules", { quote }), await rig.say("eve-2", "/stop")];

  expect(decided).toEqual(Array.from({ length: 2 }, () => ["access-deny", "handled"]));
  expect(rig.records[0]).toMatchObject({ actor: "member:eve", data: { chars: 17, rule: "access-deny" } });
  expect(await rig.store.messages.after(family, 0, 9)).toEqual([]);
  expect(await rig.store.commands.pending()).toEqual([]);
  expect([rig.notices, [...rig.woken]]).toEqual([[], []]);
});

test("who is denied makes no group, asks for none, and leaves no chat in the operator's list", async () => {
  await using rig = await openRig();

  await rig.say("eve", "@crab hello", { chat: "elsewhere" });
  await rig.say("ben", "@crab hello", { chat: "another" });

  expect(rig.registered).toEqual(["group another", "request another"]);
  expect((await rig.store.chats.list()).map(({ chat }) => chat)).toEqual(["another"]);
});

test("a flood of somebody who is denied meets the limits of everybody", async () => {
  await using rig = await openRig();

  for (let count = 0; count < 25; count += 1) await rig.say("eve", "x");

  expect(rig.records.some(({ type }) => type === "limit.reached")).toBe(true);
});
