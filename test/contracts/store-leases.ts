import { expect, test } from "vitest";

import { byMessage, finished, insert, type OpenStore, restartableStore, step } from "./store-setup.ts";
import { ofMember } from "../support/lineages.ts";

/** Two hosts want to work on one session: one of them does. */
export function testLeases(open: OpenStore): void {
  test("a session is one owner's until its lease expires or is released; each new owner gets a higher generation", async () => {
    await using home = await restartableStore(open);
    const { leases, sessions } = home.store;
    const { id } = await sessions.open("main:terminal:chat", "family");

    const first = await leases.claim(id, { owner: "one", now: 100, ttlMs: 50 });
    const refused = await leases.claim(id, { owner: "two", now: 149, ttlMs: 50 });
    const renewed = await leases.claim(id, { owner: "one", now: 140, ttlMs: 50 });
    const second = await leases.claim(id, { owner: "two", now: 190, ttlMs: 50 });

    expect(first).toEqual({ session: id, owner: "one", generation: 1, expiresAt: 150 });
    expect(refused).toBeUndefined();
    expect(renewed).toEqual({ session: id, owner: "one", generation: 1, expiresAt: 190 });
    expect(second).toMatchObject({ owner: "two", generation: 2 });
    if (first) await leases.release(first);
    expect(await leases.claim(id, { owner: "three", now: 200, ttlMs: 50 })).toBeUndefined();
    if (second) await leases.release(second);
    expect(await leases.claim(id, { owner: "three", now: 200, ttlMs: 50 })).toMatchObject({ generation: 3 });
    await expect(leases.claim("nothing", { owner: "one", now: 1, ttlMs: 1 })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("a host that was followed by another one can neither begin, go on with nor end a turn", async () => {
    await using home = await restartableStore(open);
    const { leases, sessions, turns } = home.store;
    const { id: session } = await sessions.open("main:terminal:chat", "family");
    const old = await leases.claim(session, { owner: "one", now: 100, ttlMs: 50 });
    const turn = { session, group: "family", conversation: 1, ...byMessage, at: 20 };
    await turns.begin({ ...turn, id: "t" }, step("hello"), old);
    await turns.addStep("t", step("more"), old);
    const waiting = await insert(home.store, "kept");

    const current = await leases.claim(session, { owner: "two", now: 200, ttlMs: 50 });

    const takes = { messages: [waiting], cursor: waiting, lineage: ofMember };
    await expect(turns.begin({ ...turn, id: "u" }, step("x", takes), old)).rejects.toMatchObject({ code: "fenced" });
    await expect(turns.addStep("t", step("x", takes), old)).rejects.toMatchObject({ code: "fenced" });
    await expect(turns.addAttempt("t", old)).rejects.toMatchObject({ code: "fenced" });
    await expect(turns.finish("t", finished, old)).rejects.toMatchObject({ code: "fenced" });
    expect(await turns.steps("t")).toHaveLength(2);
    expect(await turns.get("u")).toBeUndefined();
    expect(await home.store.messages.waitingGroups()).toEqual(["family"]);
    await turns.finish("t", finished, current);
    expect(await turns.get("t")).toMatchObject({ state: "done" });
  });

  test("a host that knows to be alone need not wait for the leases of a dead one", async () => {
    await using home = await restartableStore(open);
    const { id } = await home.store.sessions.open("main:terminal:chat", "family");
    await home.store.leases.claim(id, { owner: "dead", now: 100, ttlMs: 1_000_000 });

    const { leases } = await home.restart();
    const before = await leases.claim(id, { owner: "new", now: 110, ttlMs: 50 });
    await leases.endAll();

    expect(before).toBeUndefined();
    expect(await leases.claim(id, { owner: "new", now: 110, ttlMs: 50 })).toMatchObject({ generation: 2 });
  });
}
