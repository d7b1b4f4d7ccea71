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
    await home.store.executionPoints.add("one", [hook, odd], 5);
    await home.store.executionPoints.add("one", [{ ...hook, change: "changed" }], 6);
    await home.store.executionPoints.add("two", [], 7);

    const store = await home.restart();

    expect(await store.executionPoints.ofTurn("one")).toEqual([
      { ...hook, at: 5 },
      { ...odd, at: 5 },
      { ...hook, change: "changed", at: 6 },
    ]);
    expect(await store.executionPoints.ofTurn("two")).toEqual([]);
  });
}
