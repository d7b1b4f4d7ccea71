import { expect, test } from "vitest";

import {
  byMessage,
  draft,
  finished,
  insertCommand,
  type OpenStore,
  type Restartable,
  restartableStore,
  runningTurn,
  step,
  stopping,
  summaryOf,
} from "./store-setup.ts";

/** A conversation with entries 1 to 6, and the numbers of its steps. */
async function conversation(home: Restartable): Promise<{ readonly session: string; readonly steps: number[] }> {
  const { session } = await runningTurn(home.store);
  for (let entry = 2; entry <= 6; entry += 1) await home.store.turns.addStep("t", step(`entry ${entry}`));
  await home.store.turns.finish("t", finished);
  const steps = (await home.store.turns.history(session, 1, 0)).map(({ seq }) => seq);
  return { session, steps };
}

const all = Number.MAX_SAFE_INTEGER;

/** Whatever covers a conversation, its log stays, and each entry is covered once or shown. */
export function testSummaries(open: OpenStore): void {
  test("summaries follow each other, a later one takes in earlier ones, and what was before is still found", async () => {
    await using home = await restartableStore(open);
    const { session, steps } = await conversation(home);
    const [one = 0, two = 0, three = 0, , five = 0] = steps;

    const first = await home.store.summaries.add(summaryOf(session, one, two, "one and two"), { windowStart: 0 });
    await home.store.summaries.add(
      { ...summaryOf(session, three, three, ""), kind: "eviction", model: undefined },
      { windowStart: two + 1 },
    );
    const chain = await home.store.summaries.cover(session, 1, all);
    await home.store.summaries.add(summaryOf(session, one, five, "one to five"), { windowStart: three + 1 });
    const store = await home.restart();

    expect(first).toMatchObject({ fromEntry: 1, toEntry: 2 });
    expect(chain).toMatchObject([
      { kind: "summary", text: "one and two", fromEntry: 1, toEntry: 2, model: "a/b" },
      { kind: "eviction", fromEntry: 3, toEntry: 3, model: undefined },
    ]);
    expect(await store.summaries.cover(session, 1, all)).toMatchObject([
      { text: "one to five", fromEntry: 1, toEntry: 5 },
    ]);
    // As a sub-agent sees it that began before.
    expect(await store.summaries.cover(session, 1, two + 1)).toEqual([first]);
    expect(await store.sessions.get(session)).toMatchObject({ windowStart: five + 1 });
    expect(await store.turns.history(session, 1, 0)).toHaveLength(6);
  });

  test("nothing is covered when the window has moved meanwhile, or another conversation has begun", async () => {
    await using home = await restartableStore(open);
    const { session, steps } = await conversation(home);
    const [one = 0, two = 0] = steps;
    await home.store.sessions.setPrompt(
      session,
      { conversation: 1, system: ["be"], told: {} as never },
      { turn: "t", origins: [], folders: [] },
    );

    const stale = await home.store.summaries.add(summaryOf(session, one, two), { windowStart: 7 });
    const prompt = await home.store.sessions.prompt(session).catch(() => "unreadable");
    await home.store.sessions.renew(session);
    const late = await home.store.summaries.add(summaryOf(session, one, two), { windowStart: 0 });

    expect([stale, late]).toEqual([undefined, undefined]);
    expect(prompt).toBeDefined();
    expect(await home.store.summaries.cover(session, 1, all)).toEqual([]);
    expect(await home.store.sessions.get(session)).toMatchObject({ windowStart: 0 });
  });

  test("a host that has lost the session covers nothing in it", async () => {
    await using home = await restartableStore(open);
    const { session, steps } = await conversation(home);
    const claim = (owner: string, now: number) => home.store.leases.claim(session, { owner, now, ttlMs: 10 });
    const lost = await claim("first", 0);
    const held = await claim("second", 100);
    const add = (lease: typeof lost) =>
      home.store.summaries.add(summaryOf(session, steps[0] ?? 0, steps[1] ?? 0), { windowStart: 0 }, lease);

    await expect(add(lost)).rejects.toMatchObject({ code: "fenced" });
    expect(await add(held)).toMatchObject({ toEntry: 2 });
  });

  test("entries are listed by their place in the log, the newest before one that is named", async () => {
    await using home = await restartableStore(open);
    const { session } = await conversation(home);

    const newest = await home.store.summaries.entries(session, 1, { before: all, limit: 2 });
    const earlier = await home.store.summaries.entries(session, 1, { before: 3, limit: 10 });

    expect(newest.map(({ entry, body }) => [entry, body])).toEqual([
      [5, { kind: "user", text: "entry 5" }],
      [6, { kind: "user", text: "entry 6" }],
    ]);
    expect(earlier.map(({ entry }) => entry)).toEqual([1, 2]);
    expect(await home.store.summaries.entryCount(session, 1)).toBe(6);
    expect(await home.store.summaries.entryCount(session, 2)).toBe(0);
  });

  test("who asks first for a compaction is told once what came of it, over restarts", async () => {
    await using home = await restartableStore(open);
    const { session } = await conversation(home);
    const message = await insertCommand(home.store, "compact", "compact");
    const again = await insertCommand(home.store, "compact again", "compact");
    for (const seq of [message, again])
      await home.store.commands.carryOut(seq, { ...stopping, stops: false, compacts: [session] });

    const store = await home.restart();
    const [request] = await store.summaries.requests();
    const told = [];
    for (let time = 0; time < 2; time += 1)
      told.push(await store.summaries.settleRequest(request ?? { session, message: 0 }, [draft("done")], 99));

    expect(request).toEqual({ session, conversation: 1, group: "family", message });
    expect(told).toEqual([true, false]);
    expect(await store.summaries.requests()).toEqual([]);
    expect((await store.outbox.unsent(10)).filter(({ text }) => text === "done")).toHaveLength(1);
  });

  test("what a model made of somebody's words goes with them, and that something was there stays", async () => {
    await using home = await restartableStore(open);
    const { session, steps } = await conversation(home);
    const [one = 0, two = 0, three = 0, four = 0] = steps;
    await home.store.summaries.add(summaryOf(session, one, two, "Ann likes tea"), { windowStart: 0 });
    await home.store.summaries.add(summaryOf(session, three, four, "Bob came"), { windowStart: two + 1 });

    const { counts } = await home.store.erasure.made({
      group: "family",
      people: [{ channel: "terminal", id: "ann" }],
      names: ["Ann"],
      holds: () => false,
      rewrite: (body) =>
        body.kind === "user" && body.text === "entry 2" ? { kind: "user", text: "[erased]" } : undefined,
    });

    expect(counts).toMatchObject({ steps: 1, summaries: 1 });
    expect(await home.store.summaries.cover(session, 1, all)).toMatchObject([
      { kind: "eviction", text: "", fromEntry: 1, toEntry: 2, model: undefined },
      { kind: "summary", text: "Bob came" },
    ]);
  });

  test("a summary has read what its conversation had, also when the turns that read it are gone", async () => {
    await using home = await restartableStore(open);
    const { session, steps } = await conversation(home);
    const [one = 0, two = 0, three = 0] = steps;
    await home.store.origins.note("t", ["web"]);
    const first = await home.store.summaries.add(summaryOf(session, one, two), { windowStart: 0 });
    await home.store.turns.begin(
      { id: "u", session, group: "family", conversation: 1, ...byMessage, at: 9 },
      step("u"),
    );
    await home.store.origins.note("u", ["mcp"]);
    await home.store.summaries.add(summaryOf(session, three, three), { windowStart: two + 1 });

    const store = await home.restart();
    expect(first?.origins).toContain("web");
    const [, later] = await store.summaries.cover(session, 1, all);
    expect(later?.origins).toEqual(expect.arrayContaining(["web", "mcp"]));
  });

  test("summaries of conversations that are over are pruned", async () => {
    await using home = await restartableStore(open);
    const { session, steps } = await conversation(home);
    await home.store.summaries.add(summaryOf(session, steps[0] ?? 0, steps[1] ?? 0), { windowStart: 0 });
    const prune = () => home.store.retention.work({ after: 0, limit: 100, before: 1_000 });
    await prune();
    const kept = await home.store.summaries.cover(session, 1, all);

    await home.store.sessions.renew(session);
    await prune();

    expect(kept).toHaveLength(1);
    expect(await home.store.summaries.cover(session, 1, all)).toEqual([]);
  });
}
