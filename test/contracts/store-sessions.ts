import { expect, test } from "vitest";

import {
  insert,
  insertCommand,
  type OpenStore,
  restartableStore,
  runningTurn,
  step,
  stopping,
  summaryOf,
  inChat,
} from "./store-setup.ts";

/** Numbers of a session only rise. */
export function testSessions(open: OpenStore): void {
  test("a session keeps its id and its counters over restarts and never gives a number twice", async () => {
    await using home = await restartableStore(open);
    const { id } = await home.store.sessions.open("agent:terminal:chat", "family");
    const generations = [await home.store.sessions.nextGeneration(id), await home.store.sessions.nextGeneration(id)];
    const blocks = [await home.store.sessions.nextMailboxBlock(id)];

    const store = await home.restart();
    generations.push(await store.sessions.nextGeneration(id));
    blocks.push(await store.sessions.nextMailboxBlock(id), await store.sessions.nextMailboxBlock(id));

    expect(generations).toEqual([1, 2, 3]);
    expect(blocks).toEqual([1, 2, 3]);
    expect(await store.sessions.open("agent:terminal:chat", "family")).toEqual({
      id,
      key: "agent:terminal:chat",
      kind: "main",
      parent: undefined,
      archivedAt: undefined,
      group: "family",
      conversation: 1,
      generation: 3,
      contextCursor: 0,
      windowStart: 0,
      clearedBefore: 0,
    });
  });

  test("a conversation keeps the tools that it was offered first, in the same bytes, until a newer one begins", async () => {
    await using home = await restartableStore(open);
    const { id } = await home.store.sessions.open("agent:terminal:chat", "family");
    const schema = { type: "object", properties: { z: {}, a: {} }, "10": 1 };
    const first = [{ name: "one", description: "first", inputSchema: schema, origins: ["mcp"] as const }];
    const other = [{ name: "two", description: "other", inputSchema: {}, origins: [] }];

    const offered = [await home.store.sessions.offerTools(id, 1, first)];
    offered.push(await home.store.sessions.offerTools(id, 1, other));
    const store = await home.restart();
    offered.push(await store.sessions.offerTools(id, 1, []));
    const next = await store.sessions.offerTools(id, 2, other);
    const late = await store.sessions.offerTools(id, 1, first);
    const again = await store.sessions.offerTools(id, 2, first);

    expect(new Set(offered.map((tools) => JSON.stringify(tools)))).toEqual(new Set([JSON.stringify(first)]));
    expect([next, again]).toEqual([other, other]);
    expect(late).toEqual(first);
  });

  test("a conversation's tools may get more behind them, which are kept, and an older conversation's may not", async () => {
    await using home = await restartableStore(open);
    const { id } = await home.store.sessions.open("agent:terminal:chat", "family");
    const first = { name: "one", description: "first", inputSchema: {}, origins: [] };
    const more = { name: "two", description: "more", inputSchema: {}, origins: [] };
    await home.store.sessions.offerTools(id, 2, [first]);

    const extended = await home.store.sessions.extendOffer(id, 2, [first, more]);
    await home.store.sessions.extendOffer(id, 1, [more]);
    const store = await home.restart();

    expect(extended).toEqual([first, more]);
    expect(await store.sessions.offerTools(id, 2, [])).toEqual([first, more]);
  });

  test("session ids are safe in paths and container names, and differ by key", async () => {
    await using home = await restartableStore(open);
    const keys = ["agent:terminal:../../etc", "agent:terminal:a", "agent:whatsapp:1203@g.us"];

    const ids = [];
    for (const key of keys) ids.push((await home.store.sessions.open(key, "family")).id);

    for (const id of ids) expect(id).toMatch(/^[a-z0-9]{8,32}$/);
    expect(new Set(ids).size).toBe(3);
    expect((await home.store.sessions.list()).map(({ key }) => key)).toEqual(keys.toSorted());
  });

  test("a new conversation starts after everything that was said until then", async () => {
    await using home = await restartableStore(open);
    const { session } = await runningTurn(home.store);
    const last = await insert(home.store, "context", "context");
    await insert(home.store, "elsewhere", "context", "work");
    await home.store.summaries.add(summaryOf(session, 1, 39), { windowStart: 0 });

    const command = await insertCommand(home.store, "new", "new");
    await home.store.commands.carryOut(command, { ...stopping, stops: false, renews: [session] });

    const store = await home.restart();
    expect(await store.sessions.list()).toMatchObject([
      { conversation: 2, windowStart: 0, contextCursor: command, generation: 1 },
    ]);
    expect(await store.messages.countAfter(inChat("family"), command)).toBe(0);
    expect(command).toBeGreaterThan(last);
    expect(await store.turns.history(session, 2, 0)).toEqual([]);
  });

  test("what is cleared moves forward only", async () => {
    await using home = await restartableStore(open);
    const { id } = await home.store.sessions.open("agent:terminal:chat", "family");

    await home.store.sessions.setClearedBefore(id, 7);
    await home.store.sessions.setClearedBefore(id, 3);

    expect(await home.store.sessions.list()).toMatchObject([{ clearedBefore: 7 }]);
  });

  test("pictures are retired forward only, and a new conversation shows all its own", async () => {
    await using home = await restartableStore(open);
    const { id } = await home.store.sessions.open("agent:terminal:chat", "family");
    const before = await home.store.sessions.get(id);

    await home.store.sessions.retirePictures(id, { from: 9, captions: 3 });
    await home.store.sessions.retirePictures(id, { from: 4, captions: 1 });

    expect(before?.retired).toBeUndefined();
    expect((await (await home.restart()).sessions.get(id))?.retired).toEqual({ from: 9, captions: 3 });
    await home.store.sessions.renew(id);
    expect((await home.store.sessions.get(id))?.retired).toBeUndefined();
  });

  test("an unknown session is named in the error", async () => {
    await using home = await restartableStore(open);
    const { sessions: stored } = home.store;

    for (const attempt of [
      stored.nextGeneration("nope"),
      stored.nextMailboxBlock("nope"),
      stored.setClearedBefore("nope", 1),
      stored.retirePictures("nope", { from: 1, captions: 0 }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("nope") });
    }
  });

  test("what the model was told first stays, and what it was told since is stored with the step that told it", async () => {
    await using home = await restartableStore(open);
    const { session } = await runningTurn(home.store);
    const told = {
      agentName: "crab",
      timeZone: "UTC",
      instructions: "abc",
      title: "",
      members: ["Ann"],
      folders: [{ path: "/workspace/group", access: "rw" }],
      network: [],
    } as const;
    expect(await home.store.sessions.get(session)).toMatchObject({ id: session });
    expect(await home.store.sessions.get("none")).toBeUndefined();
    expect(await home.store.sessions.prompt(session)).toBeUndefined();
    await home.store.sessions.setPrompt(
      session,
      { conversation: 1, system: ["a", "b"], told },
      { turn: "t", origins: ["guest"], folders: [] },
    );

    await home.store.turns.addStep("t", { ...step("Bo joined"), tells: { ...told, members: ["Ann", "Bo"] } });
    const refused = home.store.turns.addStep("nowhere", { ...step("x"), tells: { ...told, members: [] } });

    await expect(refused).rejects.toMatchObject({ code: "not_found" });
    const store = await home.restart();
    expect(await store.sessions.prompt(session)).toEqual({
      conversation: 1,
      system: ["a", "b"],
      told: { ...told, members: ["Ann", "Bo"] },
      origins: ["guest"],
    });
    const sections = { identity: 9 };
    await store.sessions.setPrompt(
      session,
      { conversation: 2, system: ["c"], sections, told },
      { turn: "t", origins: [], folders: [] },
    );
    await store.turns.addStep("t", { ...step("of an older conversation"), tells: { ...told, members: [] } });
    expect(await store.sessions.prompt(session)).toEqual({
      conversation: 2,
      system: ["c"],
      sections,
      told,
      origins: [],
    });
  });
}
