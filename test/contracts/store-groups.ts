import { expect, test } from "vitest";

import type { Group } from "../../src/domain/group.ts";
import { type OpenStore, restartableStore } from "./store-setup.ts";

const family: Group = {
  name: "family",
  channel: "http",
  chat: "room",
  trigger: "mention",
  main: false,
  mounts: [{ source: "~/projects/site", target: "site", access: "rw" }],
  model: undefined,
  policy: { default: "allow", tools: { shell: "deny" } },
  budget: { tokensPerDay: 1000, usdPerDay: undefined },
  origin: "store",
};

const noLimits = { tokensPerDay: undefined, usdPerDay: undefined };

/** Groups added at run time, and chats that were seen. */
export function testGroupsAndChats(open: OpenStore): void {
  test("a group that was added is there after a restart, exactly as it was, until it is removed", async () => {
    await using home = await restartableStore(open);
    await home.store.groups.add({ ...family, name: "work", chat: "office", model: "main", budget: noLimits });
    await home.store.groups.add(family);

    const store = await home.restart();

    expect(await store.groups.list()).toEqual([
      family,
      { ...family, name: "work", chat: "office", model: "main", budget: noLimits },
    ]);
    expect(await store.groups.remove("work")).toBe(true);
    expect(await store.groups.remove("work")).toBe(false);
    expect(await store.groups.list()).toEqual([family]);
  });

  test("a name or a chat that is taken is refused, and nothing is changed", async () => {
    await using home = await restartableStore(open);
    await home.store.groups.add(family);

    const sameName = home.store.groups.add({ ...family, chat: "elsewhere" });
    const sameChat = home.store.groups.add({ ...family, name: "other" });

    await expect(sameName).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("family") });
    await expect(sameChat).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("room") });
    expect(await home.store.groups.list()).toEqual([family]);
  });

  test("each group has a number of its own for ever, also when asked at once and after removal", async () => {
    await using home = await restartableStore(open);
    const { groups } = home.store;
    await groups.add(family);

    const numbers = await Promise.all(["family", "main", "family", "work"].map((name) => groups.ordinal(name)));
    await groups.remove("family");

    const store = await home.restart();
    expect(numbers).toEqual([0, 1, 0, 2]);
    expect(await store.groups.ordinal("family")).toBe(0);
    expect(await store.groups.ordinal("new")).toBe(3);
  });

  test("a chat is counted with its first and last time and its group of the moment", async () => {
    await using home = await restartableStore(open);
    const { chats } = home.store;
    await chats.seen("whatsapp", "a", undefined, 10);
    await chats.seen("whatsapp", "a", "family", 30);
    await chats.seen("whatsapp", "a", "family", 20);
    await chats.seen("whatsapp", "b", undefined, 40);
    await chats.memberSeen("family", { id: "ann", name: "Ann" }, 10);
    await chats.memberSeen("family", { id: "ann", name: "Anna" }, 20);

    const store = await home.restart();

    expect(await store.chats.list()).toEqual([
      { channel: "whatsapp", chat: "b", group: undefined, firstSeenAt: 40, lastSeenAt: 40, messages: 1 },
      { channel: "whatsapp", chat: "a", group: "family", firstSeenAt: 10, lastSeenAt: 30, messages: 3 },
    ]);
  });
}
