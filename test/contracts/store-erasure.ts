import { expect, test } from "vitest";

import { type OpenStore, restartableStore, say } from "./store-setup.ts";

const ann = { channel: "terminal", id: "ann" };
const bob = { id: "bob", name: "Bob" };

export function testErasure(open: OpenStore): void {
  test("what somebody said is told apart from what others said", async () => {
    await using files = await restartableStore(open);
    const { messages, erasure } = files.store;
    await messages.insert(say("1"), { group: "family", state: "waiting", at: 1 });
    await messages.insert(say("2", { sender: bob }), { group: "family", state: "waiting", at: 2 });
    await messages.insert(say("3"), { group: "club", state: "waiting", at: 3 });

    expect(await erasure.said({ group: "family", people: [ann], after: 0 })).toEqual({
      own: ["text of 1"],
      others: ["text of 2"],
      ids: ["1"],
      files: [],
      next: undefined,
    });
    expect(await erasure.outline([ann])).toEqual({
      groups: ["club", "family"],
      names: ["Ann"],
      counts: { messages: 2 },
    });
  });

  test("a message for several agents is one, and all of its copies are empty afterwards", async () => {
    await using files = await restartableStore(open);
    const { store } = files;
    const placed = { group: "family", state: "waiting", at: 1, agents: ["crab", "helper", "other"] } as const;
    await store.messages.insert(say("1"), placed);
    await store.messages.insert(say("2", { sender: bob }), placed);

    expect((await store.erasure.outline([ann])).counts).toEqual({ messages: 1 });
    expect(await store.erasure.own([ann])).toEqual({ messages: 1 });
    await store.erasure.compact();

    const again = await files.restart();
    const left = await again.erasure.said({ group: "family", people: [ann], after: 0 });
    expect(left.own).toEqual(["", "", ""]);
    expect(left.others).toEqual(["text of 2", "text of 2", "text of 2"]);
    expect(await again.erasure.own([ann])).toEqual({});
    expect(await again.messages.insert(say("1"), placed)).toMatchObject({ duplicate: true });
  });

  test("what pictures show is forgotten with whoever is forgotten: nobody knows anymore whose they were", async () => {
    await using files = await restartableStore(open);
    const { store } = files;
    const sha256 = "a".repeat(64);
    await store.messages.insert(say("1"), { group: "family", state: "waiting", at: 1 });
    await store.blobs.keepCaption({ sha256, caption: "Ann on a boat", at: 1 });
    expect([...(await store.blobs.captionsOf([sha256])).values()]).toEqual(["Ann on a boat"]);

    await store.erasure.made({
      group: "family",
      people: [ann],
      names: ["Ann"],
      holds: () => false,
      rewrite: () => undefined,
    });

    expect(await (await files.restart()).blobs.captionsOf([sha256])).toEqual(new Map());
  });

  test("an erasure is open until it has ended, over restarts", async () => {
    await using files = await restartableStore(open);
    await files.store.erasure.begin("digest", 5);
    expect(await (await files.restart()).erasure.open()).toEqual([{ digest: "digest", begunAt: 5 }]);
    await files.store.erasure.ended("digest", 6);
    expect(await (await files.restart()).erasure.open()).toEqual([]);
  });

  test("whoever asks nothing of the store goes on while it is written anew, and the store does afterwards", async () => {
    await using files = await restartableStore(open);
    const { erasure, messages } = files.store;
    await messages.insert(say("1"), { group: "family", state: "waiting", at: 1 });
    let others = 0;
    const ticking = setInterval(() => (others += 1), 1);
    try {
      const compacted = erasure.compact();
      const inserted = messages.insert(say("2"), { group: "family", state: "waiting", at: 2 });
      await compacted;
      expect(others).toBeGreaterThan(0);
      expect(await inserted).toMatchObject({ duplicate: false });
    } finally {
      clearInterval(ticking);
    }
  });
}
