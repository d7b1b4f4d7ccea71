import { expect, test } from "vitest";

import type { Group } from "../../../src/domain/chats/group.ts";
import { type GroupRegistry, openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";

const main = someGroup("main", { channel: "terminal", chat: "main", main: true });
const hasTypedChats = (channel: string): boolean => channel === "http";
const prepare = async (): Promise<void> => undefined;

function open(store: Store, configured: readonly Group[] = [main]): Promise<GroupRegistry> {
  return openGroupRegistry({ configured, store: store.groups, resolve: someStoredGroup, prepare, hasTypedChats });
}

test("a group is found by its channel and chat, and by its name where chats are typed", async () => {
  await using opened = await openTestStore();
  const family = someGroup("family", { channel: "http", chat: "room-1" });
  const work = someGroup("work", { channel: "whatsapp", chat: "120@g.us" });

  const registry = await open(opened.store, [main, family, work]);

  expect(registry.find("http", "room-1")?.name).toBe("family");
  expect(registry.find("http", "family")?.name).toBe("family");
  expect(registry.find("whatsapp", "120@g.us")?.name).toBe("work");
  expect(registry.find("whatsapp", "work")).toBeUndefined();
  expect(registry.find("http", "main")).toBeUndefined();
  expect(registry.find("http", "120@g.us")).toBeUndefined();
  expect(registry.list().map(({ name }) => name)).toEqual(["family", "main", "work"]);
});

test("a chat of that id comes before a group of that name", async () => {
  await using opened = await openTestStore();
  const one = someGroup("one", { channel: "http", chat: "two" });
  const two = someGroup("two", { channel: "http", chat: "elsewhere" });

  const registry = await open(opened.store, [two, one]);

  expect(registry.find("http", "two")?.name).toBe("one");
});

test("a group that was added is there at once and after a restart, and gone once it is removed", async () => {
  await using opened = await openTestStore();
  const registry = await open(opened.store);

  const added = await registry.add(someGroup("family"));
  const restarted = await open(opened.store);
  await restarted.remove("family");

  expect(added.origin).toBe("store");
  expect(registry.find("fake", "chat of family")).toEqual(added);
  expect(restarted.byName("family")).toBeUndefined();
  expect((await open(opened.store)).byName("family")).toBeUndefined();
});

test("the folder of a group is made before the group is stored", async () => {
  await using opened = await openTestStore();
  const registry = await openGroupRegistry({
    configured: [],
    store: opened.store.groups,
    resolve: someStoredGroup,
    prepare: async () => {
      throw new Error("the disk is full");
    },
  });

  await expect(registry.add(someGroup("family"))).rejects.toThrow("the disk is full");

  expect(registry.list()).toEqual([]);
  expect(await opened.store.groups.list()).toEqual([]);
});

test.each(["", "../../x", "/tmp", "Family", "a b", "global", "_template", "-x", "a".repeat(65), "x\n"])(
  "a group cannot be called %j",
  async (name) => {
    await using opened = await openTestStore();
    const registry = await open(opened.store);

    await expect(registry.add(someGroup(name))).rejects.toMatchObject({ code: "bad_input" });

    expect(await opened.store.groups.list()).toEqual([]);
  },
);

test("a name or chat that is taken cannot be added, by the configuration or by another group", async () => {
  await using opened = await openTestStore();
  const registry = await open(opened.store);
  await registry.add(someGroup("family"));

  const adding = [
    registry.add(someGroup("main")),
    registry.add(someGroup("other", { channel: "terminal", chat: "main" })),
    registry.add(someGroup("family", { chat: "elsewhere" })),
    registry.add(someGroup("other", { chat: "chat of family" })),
  ];

  for (const outcome of await Promise.allSettled(adding)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
  }
  expect(registry.list()).toHaveLength(2);
});

test("of two groups that are added for the same chat at once only one is", async () => {
  await using opened = await openTestStore();
  const registry = await open(opened.store);

  const outcomes = await Promise.allSettled(
    ["one", "two"].map((name) => registry.add(someGroup(name, { chat: "the same" }))),
  );

  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await opened.store.groups.list()).toHaveLength(1);
});

test("a group of the configuration is removed there, not here", async () => {
  await using opened = await openTestStore();
  const registry = await open(opened.store);

  await expect(registry.remove("main")).rejects.toMatchObject({ code: "conflict", fix: /config\.yaml/ });
  await expect(registry.remove("nobody")).rejects.toMatchObject({ code: "not_found" });

  expect(registry.byName("main")).toEqual(main);
});

test("the configuration wins over a stored group that it has since come to contradict", async () => {
  await using opened = await openTestStore();
  const before = await open(opened.store, []);
  await before.add(someGroup("main"));
  await before.add(someGroup("old", { channel: "terminal", chat: "main" }));

  const registry = await open(opened.store);

  expect(registry.list()).toEqual([main]);
  expect(registry.shadowed.map(({ name }) => name)).toEqual(["main", "old"]);
});
