import { expect, test } from "vitest";

import { type OpenStore, restartableStore } from "./store-setup.ts";

/** Which settings changed, and the ones that hold. */
export function testSettings(open: OpenStore): void {
  test("changes are on record in order, with who made them, and the settings that held last are known after a restart", async () => {
    await using home = await restartableStore(open);
    const { settings } = home.store;
    const none = [await settings.applied(), await settings.history({ limit: 9 })];
    const changes = [
      { path: "timezone", from: "UTC", to: "Asia/Tokyo" },
      { path: "groups.a", to: { trigger: "always" } },
    ];
    await settings.record({ actor: "operator", via: "file", at: 5, changes, settings: { timezone: "Asia/Tokyo" } });
    const more = [
      { path: "groups.a.model", from: null },
      { path: "groups.ab", to: 0 },
      { path: 'groups.a["x%"]', to: "" },
    ];
    await settings.record({ actor: "member:ann", via: "chat", at: 6, changes: more, settings: { groups: {} } });

    const store = await home.restart();
    const all = await store.settings.history({ limit: 9 });

    expect(none).toEqual([undefined, []]);
    const id = expect.any(Number) as number;
    expect(all).toEqual([
      ...more.toReversed().map((change) => ({ ...change, id, actor: "member:ann", via: "chat", time: 6 })),
      ...changes.toReversed().map((change) => ({ ...change, id, actor: "operator", via: "file", time: 5 })),
    ]);
    expect(await store.settings.history({ limit: 2 })).toEqual(all.slice(0, 2));
    const ofGroup = await store.settings.history({ path: "groups.a", limit: 9 });
    expect(ofGroup.map(({ path }) => path)).toEqual(['groups.a["x%"]', "groups.a.model", "groups.a"]);
    expect(await store.settings.applied()).toEqual({ groups: {} });
  });
}
