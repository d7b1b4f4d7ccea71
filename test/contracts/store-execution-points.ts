import { expect, test } from "vitest";

import { byMessage, type OpenStore, restartableStore } from "./store-setup.ts";

/** Contract for findings of turns in mounts. */
export function testExecutionPoints(open: OpenStore): void {
  test("changes are found again by their turn, in order, also after a restart", async () => {
    await using home = await restartableStore(open);
    const session = await home.store.sessions.open("a:http:room", "family");
    const begin = (id: string) =>
      home.store.turns.begin(
        { id, session: session.id, group: "family", conversation: 1, ...byMessage, at: 1 },
        { body: { kind: "user", text: "" }, tokens: 0, at: 1 },
      );
    for (const id of ["one", "two"]) await begin(id);
    const hook = { target: "site", path: ".git/hooks/pre-commit", kind: "git-hook", change: "added" } as const;
    const odd = { target: "site", path: "\u{FFFD}'\"/.envrc", kind: "direnv", change: "removed" } as const;
    const shown = { bytes: 5, sha256: "abc", diff: "@@ -1 +1 @@\n-a\n+b" };
    await home.store.executionPoints.add({ group: "family", turn: "one" }, [hook, odd], 5);
    await home.store.executionPoints.add(
      { group: "family", turn: "one" },
      [{ ...hook, ...shown, change: "changed" }],
      6,
    );
    await home.store.executionPoints.add({ group: "family", turn: "two" }, [], 7);
    await home.store.executionPoints.add({ group: "family", turn: undefined }, [{ ...odd, target: "other" }], 8);
    await home.store.executionPoints.add({ group: "friends", turn: undefined }, [odd], 9);

    const store = await home.restart();

    expect(await store.executionPoints.ofTurn("one")).toEqual([
      { ...hook, at: 5 },
      { ...odd, at: 5 },
      { ...hook, change: "changed", at: 6 },
    ]);
    expect(await store.executionPoints.ofTurn("two")).toEqual([]);
    const changed = { ...hook, ...shown, change: "changed", at: 6, turn: "one" };
    const added = { ...odd, target: "other", at: 8, turn: undefined };
    const none = { bytes: undefined, sha256: undefined, diff: undefined };
    expect(await store.executionPoints.ofGroup("family", { limit: 2 })).toEqual([{ ...added, ...none }, changed]);
    expect(await store.executionPoints.ofGroup("family", { target: "site", limit: 1 })).toEqual([changed]);
  });
}
