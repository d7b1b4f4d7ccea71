import { expect, test } from "vitest";

import { openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import { isGroupName } from "../../../src/domain/chats/group.ts";
import { type AutoRegisterOptions, createAutoRegister } from "../../../src/intake/chats/auto-register.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const main = someGroup("main", { channel: "terminal", chat: "main", main: true });
const noon = Date.UTC(2026, 0, 15, 12);

async function openRig(store: Store, more: { limits?: AutoRegisterOptions["limits"]; now?: () => number } = {}) {
  const records: Parameters<AutoRegisterOptions["publish"]>[0][] = [];
  const register = createAutoRegister({
    nameOf: async ({ channel, chat }) => (channel === "http" && isGroupName(chat) ? chat : undefined),
    registry: await openGroupRegistry({
      configured: [main],
      store: store.groups,
      resolve: someStoredGroup,
      prepare: async () => undefined,
    }),
    limits: more.limits ?? { perDay: 100, total: 100 },
    store,
    clock: { now: more.now ?? (() => noon) },
    publish: async (record) => {
      records.push(record);
    },
  });
  const say = (channel: string, chat: string) =>
    register({ channel, chat, id: "1", sender: { id: "ann", name: "Ann" }, text: "hi", mention: false });
  return { say, records };
}

test("a new name on an open channel becomes a group that must be mentioned and has nothing mounted", async () => {
  await using opened = await openTestStore();
  const rig = await openRig(opened.store);

  const groups = await Promise.all([1, 2, 3].map(() => rig.say("http", "new")));

  const group = { name: "new", channel: "http", chat: "new", trigger: "mention", main: false, mounts: [] };
  expect(groups).toMatchObject([group, group, group]);
  expect(await opened.store.groups.list()).toHaveLength(1);
  expect(rig.records).toEqual([
    { type: "group.added", group: "new", actor: "member:ann", data: { name: "new", channel: "http", chat: "new" } },
  ]);
});

test.each([
  ["whatsapp", "new"],
  ["http", "../x"],
  ["http", "main"],
  ["http", "con"],
  ["http", "lpt1"],
])("on %s the chat %s is not registered", async (channel, chat) => {
  await using opened = await openTestStore();
  const rig = await openRig(opened.store);

  expect(await rig.say(channel, chat)).toBeUndefined();

  expect(await opened.store.groups.list()).toEqual([]);
});

test("only this many groups are made in a day, also over a restart, and those that are there go on being found", async () => {
  await using opened = await openTestStore();
  const limits = { perDay: 2, total: 100 };
  const before = await openRig(opened.store, { limits });
  await before.say("http", "one");

  const after = await openRig(opened.store, { limits });
  const made = [await after.say("http", "two"), await after.say("http", "three"), await after.say("http", "four")];
  const known = await after.say("http", "one");
  const tomorrow = await openRig(opened.store, { limits, now: () => noon + 24 * 3_600_000 });

  const refused = {
    outcome: "refused",
    code: "too-many-groups",
    retryAfterS: 12 * 3600,
    lasting: true,
    stopped: false,
  };
  expect(made).toMatchObject([{ name: "two" }, refused, refused]);
  expect(known).toMatchObject({ name: "one" });
  expect(after.records.filter(({ type }) => type === "limit.reached")).toMatchObject([
    { actor: "member:ann", data: { limit: "auto-registered-groups-per-day", allowed: 2, chat: "three" } },
  ]);
  expect(await tomorrow.say("http", "three")).toMatchObject({ name: "three" });
});

test("only this many are made in all, however many come at once", async () => {
  await using opened = await openTestStore();
  const rig = await openRig(opened.store, { limits: { perDay: 100, total: 3 } });

  const names = Array.from({ length: 20 }, (_, index) => `g${index}`);
  const answers = await Promise.all(names.map((name) => rig.say("http", name)));

  expect(await opened.store.groups.list()).toHaveLength(3);
  expect(answers.filter((answer) => answer && "outcome" in answer)).toHaveLength(17);
  expect(answers.at(-1)).toMatchObject({
    code: "too-many-groups",
    reason: expect.stringContaining("intake.autoRegister.total"),
  });
});
