import { expect, test } from "vitest";

import type { StepBody } from "../../src/domain/turns/turn.ts";
import {
  byMessage,
  draft,
  finished,
  insert,
  insertCommand,
  type OpenStore,
  restartableStore,
  runningTurn,
  step,
  stopping,
  inChat,
} from "./store-setup.ts";
import { ofMember } from "../support/lineages.ts";

/** Turns end once; steps are only appended. */
export function testTurns(open: OpenStore): void {
  test("beginning a turn stores its first step and takes its messages, and survives a restart", async () => {
    await using home = await restartableStore(open);
    const { session, message } = await runningTurn(home.store);

    const store = await home.restart();

    expect(await store.turns.running()).toEqual([
      {
        id: "t",
        group: "family",
        session,
        conversation: 1,
        ...byMessage,
        state: "running",
        attempts: 1,
        startedAt: 20,
        endedAt: undefined,
        reason: undefined,
        lineage: ofMember,
      },
    ]);
    expect(await store.turns.steps("t")).toMatchObject([
      { turn: "t", tokens: 7, body: { kind: "user", text: "hello" } },
    ]);
    expect(await store.messages.ofTurn("t")).toMatchObject([{ seq: message, state: "taken", turn: "t" }]);
    expect(await store.messages.waitingGroups()).toEqual([]);
    expect(await store.sessions.list()).toMatchObject([{ id: session, contextCursor: message }]);
  });

  test("a turn takes only its group's waiting messages, and otherwise nothing; the cursor never goes back", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const { session, message } = await runningTurn(store);
    const context = await insert(store, "context", "context");
    const foreign = await insert(store, "foreign", "waiting", "work");
    const late = await insert(store, "late");

    for (const other of [context, foreign, 999])
      await expect(
        store.turns.addStep("t", step("more", { messages: [late, other], cursor: late, lineage: ofMember })),
      ).rejects.toMatchObject({ code: "gone" });
    expect(await store.turns.steps("t")).toHaveLength(1);
    await store.turns.addStep("t", step("more", { messages: [late], cursor: late, lineage: ofMember }));
    await store.turns.addStep("t", step("again", { messages: [], cursor: message, lineage: ofMember }));

    expect((await store.messages.ofTurn("t")).map(({ seq }) => seq)).toEqual([message, late]);
    expect((await store.messages.after(inChat("family"), 0, 10)).map(({ state }) => state)).toEqual([
      "taken",
      "context",
      "taken",
    ]);
    expect(await store.messages.waitingGroups()).toEqual(["work"]);
    expect((await store.sessions.open("agent:terminal:chat", "family")).contextCursor).toBe(late);
    expect((await store.turns.get("t"))?.session).toBe(session);
  });

  test("a turn does not begin with a message that was dropped meanwhile", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const { id: session } = await store.sessions.open("agent:terminal:chat", "family");
    const message = await insert(store, "dropped");
    await store.commands.carryOut(await insertCommand(store, "stop", "stop"), stopping);
    const turn = { id: "t", session, group: "family", conversation: 1, ...byMessage, at: 20 };

    const begun = store.turns.begin(turn, step("hello", { messages: [message], cursor: message, lineage: ofMember }));

    await expect(begun).rejects.toMatchObject({ code: "gone" });
    expect(await store.turns.get("t")).toBeUndefined();
    expect(await store.turns.history(session, 1, 0)).toEqual([]);
  });

  test("a step comes back exactly as it was stored, whatever the model and the tools wrote", async () => {
    await using home = await restartableStore(open);
    await runningTurn(home.store);
    const bodies: StepBody[] = [
      {
        kind: "model",
        answer: {
          text: "\ud800 broken, \u0000 and ' fine",
          toolCalls: [{ id: "c1", name: "shell", input: { command: "ls", deep: [null, { __proto__x: 1 }] } }],
          stop: "tool-calls",
          usage: { inputTokens: 10, cachedInputTokens: 4, writtenInputTokens: 3, outputTokens: 2, isEstimate: true },
          model: "offline/scripted",
          thoughts: [
            { type: "reasoning", item: { id: "rs_1", encrypted_content: "ZW5j", summary: [{ text: "\ud800" }] } },
            { type: "message", chars: 3, phase: "commentary" },
          ],
        },
        denied: [{ callId: "c1", output: "not allowed", isError: true }],
      },
      { kind: "tools", results: [{ callId: "c1", output: "a\nb", isError: false }] },
    ];

    const written = [];
    for (const body of bodies) written.push(await home.store.turns.addStep("t", { body, tokens: 3, at: 60 }));

    const store = await home.restart();
    expect((await store.turns.steps("t")).slice(1)).toEqual(written);
    expect(written.map(({ body }) => body)).toEqual(bodies);
  });

  test("finishing writes last steps, replies and states together", async () => {
    await using home = await restartableStore(open);
    const { message } = await runningTurn(home.store);

    const sent = await home.store.turns.finish("t", {
      state: "done",
      at: 90,
      times: { queue: 1, model: 2.5 },
      steps: [step("last")],
      outgoing: [draft("one", { turn: "t", elapsedMs: 12.5 }), draft("two", { turn: "t", kind: "notice" })],
    });

    const store = await home.restart();
    expect(sent).toMatchObject([
      { text: "one", kind: "reply", state: "queued", attempts: 0, createdAt: 90, elapsedMs: 12.5, inReplyTo: ["1"] },
      { text: "two", kind: "notice", turn: "t" },
    ]);
    expect(await store.outbox.unsent(10)).toEqual(sent);
    expect(await store.outbox.ofTurn("t")).toMatchObject([{ text: "one" }, { text: "two" }]);
    expect(await store.turns.lastStep("t")).toMatchObject({ body: { text: "last" } });
    expect(await store.turns.get("t")).toMatchObject({
      state: "done",
      endedAt: 90,
      reason: undefined,
      times: { queue: 1, model: 2.5 },
    });
    expect((await store.turns.steps("t")).map(({ body }) => body)).toEqual([
      { kind: "user", text: "hello" },
      { kind: "user", text: "last" },
    ]);
    expect(await store.messages.ofTurn("t")).toMatchObject([{ seq: message, state: "answered" }]);
    expect(await store.turns.running()).toEqual([]);
  });

  test("a turn that has ended stays as it is: no second end, no second reply, no further step", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    const reply = { ...finished, outgoing: [draft("reply")] };
    const ends = await Promise.all([store.turns.finish("t", reply), store.turns.finish("t", reply)]);

    const late = store.turns.finish("t", { ...reply, state: "failed", reason: "late", steps: [step("late")] });

    expect(ends.filter((end) => end === undefined)).toHaveLength(1);
    expect(await late).toBeUndefined();
    await expect(store.turns.addStep("t", step("late"))).rejects.toMatchObject({ code: "conflict" });
    await expect(store.turns.addAttempt("t")).rejects.toMatchObject({ code: "conflict" });
    expect(await store.turns.get("t")).toMatchObject({ state: "done", attempts: 1 });
    expect(await store.turns.steps("t")).toHaveLength(1);
    expect(await store.outbox.unsent(10)).toHaveLength(1);
  });

  test("a turn without a session, a second one of the same name, and steps of no turn are refused", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const { session } = await runningTurn(store);
    const waiting = await insert(store, "kept");
    const takes = { messages: [waiting], cursor: waiting, lineage: ofMember };
    const turn = { id: "t", session, group: "family", conversation: 1, ...byMessage, at: 20 };

    await expect(store.turns.begin(turn, step("x", takes))).rejects.toMatchObject({ code: "conflict" });
    await expect(store.turns.begin({ ...turn, id: "u", session: "none" }, step("x", takes))).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(store.turns.addStep("nowhere", step("x", takes))).rejects.toMatchObject({ code: "not_found" });
    await expect(store.turns.finish("nowhere", finished)).rejects.toMatchObject({ code: "not_found" });

    expect(await store.turns.get("u")).toBeUndefined();
    expect((await store.messages.waiting(inChat("family"), 10)).map(({ seq }) => seq)).toEqual([waiting]);
  });

  test("a further container counts as an attempt", async () => {
    await using home = await restartableStore(open);
    await runningTurn(home.store);

    const attempts = await home.store.turns.addAttempt("t");

    const store = await home.restart();
    expect(attempts).toBe(2);
    expect(await store.turns.get("t")).toMatchObject({ attempts: 2 });
  });

  test("turns are listed newest first, for all groups or one", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const { id: session } = await store.sessions.open("agent:terminal:chat", "family");
    for (const [id, group] of [
      ["a", "family"],
      ["b", "work"],
      ["c", "family"],
    ] as const) {
      await store.turns.begin({ id, session, group, conversation: 1, ...byMessage, at: 1 }, step("x"));
    }

    const ids = async (filter: { group?: string; limit: number }) =>
      (await store.turns.list(filter)).map(({ id }) => id);

    expect(await ids({ limit: 10 })).toEqual(["c", "b", "a"]);
    expect(await ids({ limit: 2 })).toEqual(["c", "b"]);
    expect(await ids({ group: "family", limit: 10 })).toEqual(["c", "a"]);
    expect(await store.turns.idsBeginningWith("a", 10)).toEqual(["a"]);
    expect(await store.turns.idsBeginningWith("", 2)).toEqual(["a", "b"]);
    expect((await store.turns.running()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("a turn is outlined by what it began with and what its models used", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await runningTurn(store);
    await store.turns.addStep("t", { body: answerOf("a/x", 5), tokens: 1, at: 1 });
    await store.turns.addStep("t", { body: answerOf("a/x", 7), tokens: 1, at: 2 });
    await store.turns.addStep("t", { body: answerOf("b/y", 1), tokens: 1, at: 3 });

    const outlines = await store.turns.outlines(["t", "nope"]);

    const used = { inputTokens: 10, cachedInputTokens: 4 };
    expect([...outlines]).toMatchObject([
      [
        "t",
        {
          sender: expect.any(String),
          text: expect.any(String),
          usage: [
            { model: "a/x", inputTokens: 20, cachedInputTokens: 8, outputTokens: 12 },
            { model: "b/y", ...used, outputTokens: 1 },
          ],
        },
      ],
    ]);
  });

  test("history holds the steps of one conversation of one session, from a given step on", async () => {
    await using home = await restartableStore(open);
    const { session } = await runningTurn(home.store);
    const { store } = home;
    const second = await store.turns.addStep("t", step("second"));
    const other = await store.sessions.open("agent:http:other", "work");
    await store.turns.begin(
      { id: "o", session: other.id, group: "work", conversation: 1, ...byMessage, at: 1 },
      step("other"),
    );
    const third = await store.turns.addStep("t", step("third"));
    await store.turns.begin({ id: "n", session, group: "family", conversation: 2, ...byMessage, at: 1 }, step("new"));

    const texts = async (conversation: number, from: number) =>
      (await store.turns.history(session, conversation, from)).map(({ body }) => body.kind === "user" && body.text);

    expect(await texts(1, 0)).toEqual(["hello", "second", "third"]);
    expect(await texts(1, second.seq)).toEqual(["second", "third"]);
    expect(await texts(2, 0)).toEqual(["new"]);
    expect(third.seq).toBeGreaterThan(second.seq);
  });

  test("a hundred turns that begin at once keep their messages apart", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const { id: session } = await store.sessions.open("agent:terminal:chat", "family");

    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const seq = await insert(store, String(index));
        const turn = { id: `t${index}`, session, group: "family", conversation: 1, ...byMessage, at: 1 };
        await store.turns.begin(turn, step(String(index), { messages: [seq], cursor: seq, lineage: ofMember }));
        await store.turns.addStep(turn.id, step("more"));
        await store.turns.finish(turn.id, { ...finished, outgoing: [draft(`to ${index}`, { turn: turn.id })] });
      }),
    );

    for (const { turn, text } of await store.outbox.unsent(200)) {
      const [message, ...others] = await store.messages.ofTurn(turn ?? "");
      expect(others).toEqual([]);
      expect(`to ${message?.id}`).toBe(text);
      expect(message?.state).toBe("answered");
    }
    expect(await store.outbox.unsent(200)).toHaveLength(100);
  });

  test("the pace of a group is its newest turns since then, with who began them, oldest first", async () => {
    await using home = await restartableStore(open);
    for (const [index, id] of ["t1", "t2", "t3"].entries()) {
      const { id: session } = await home.store.sessions.open("agent:terminal:chat", "family");
      const seqs = [await insert(home.store, `${id}-1`), await insert(home.store, `${id}-2`)];
      const at = 100 * (index + 1);
      const takes = { messages: seqs, cursor: seqs[1] ?? 0, lineage: ofMember };
      await home.store.turns.begin(
        { id, session, group: "family", conversation: 1, ...byMessage, at },
        step("hello", takes),
      );
      if (id !== "t3") await home.store.turns.finish(id, { ...finished, at: at + 50 });
    }

    const { turns } = await home.restart();

    const t2 = { id: "t2", startedAt: 200, endedAt: 250, firstAt: 10, senders: ["ann"] };
    const t3 = { id: "t3", startedAt: 300, endedAt: undefined, firstAt: 10, senders: ["ann"] };
    expect(await turns.pace("family", { since: 150, limit: 10, detailed: 10 })).toEqual([t2, t3]);
    expect(await turns.pace("family", { since: 0, limit: 2, detailed: 1 })).toEqual([
      { ...t2, firstAt: undefined, senders: [] },
      t3,
    ]);
    expect(await turns.pace("work", { since: 0, limit: 10, detailed: 10 })).toEqual([]);
  });
}

function answerOf(model: string, outputTokens: number): StepBody {
  const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens };
  return { kind: "model", answer: { text: "", toolCalls: [], stop: "end", usage, model }, denied: [] };
}
