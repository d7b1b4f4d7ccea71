import { expect, test } from "vitest";

import { type OpenStore, restartableStore } from "./store-setup.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function words(found: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  return Object.fromEntries([...found].map(([key, value]) => [key, new TextDecoder().decode(value)]));
}

/** Contract for channels' private state. */
export function testChannelState(open: OpenStore): void {
  test("what was applied is there after a restart, and what was removed is not", async () => {
    await using home = await restartableStore(open);
    const { channelState } = home.store;
    await channelState.apply(
      "a",
      new Map([
        ["one", bytes("1")],
        ["two", bytes("2")],
        ["three", bytes("3")],
      ]),
    );
    await channelState.apply(
      "a",
      new Map([
        ["two", bytes("zwei")],
        ["three", null],
        ["never", null],
      ]),
    );

    const store = await home.restart();

    expect(words(await store.channelState.list("a"))).toEqual({ one: "1", two: "zwei" });
    expect(words(await store.channelState.read("a", ["two", "three", "two"]))).toEqual({ two: "zwei" });
  });

  test("spaces do not see each other, and one that gets another name takes its place", async () => {
    await using home = await restartableStore(open);
    const { channelState } = home.store;
    await channelState.apply("a", new Map([["key", bytes("of a")]]));
    await channelState.apply(
      "b",
      new Map([
        ["key", bytes("of b")],
        ["more", bytes("of b")],
      ]),
    );

    await channelState.rename("a", "b");
    await channelState.rename("b", "b");

    expect(words(await channelState.list("a"))).toEqual({});
    expect(words(await channelState.list("b"))).toEqual({ key: "of a" });
  });

  test("thousands of values are set, read and removed at once", async () => {
    await using home = await restartableStore(open);
    const { channelState } = home.store;
    const keys = Array.from({ length: 12_000 }, (_, index) => `key ${index}`);
    await channelState.apply("a", new Map(keys.map((key) => [key, bytes(key)])));

    const found = await channelState.read("a", keys);
    await channelState.apply("a", new Map(keys.map((key) => [key, null])));

    expect(Object.keys(words(found))).toHaveLength(12_000);
    expect((await channelState.list("a")).size).toBe(0);
  });

  test("of changes that cannot all be made none is made", async () => {
    await using home = await restartableStore(open);
    const { channelState } = home.store;
    const broken = { toString: () => "no key" } as unknown as string;

    const applying = channelState.apply(
      "a",
      new Map([
        ["good", bytes("1")],
        [broken, bytes("2")],
      ]),
    );

    await expect(applying).rejects.toThrow(/SQLite|bind/i);
    expect((await channelState.list("a")).size).toBe(0);
  });

  test("an empty value is a value", async () => {
    await using home = await restartableStore(open);
    await home.store.channelState.apply("a", new Map([["empty", new Uint8Array()]]));

    expect((await home.store.channelState.read("a", ["empty"])).get("empty")).toHaveLength(0);
  });
}
