import { expect, test } from "vitest";

import type { ApprovalAnswer, NewApproval } from "../../src/domain/rights/approval.ts";
import type { NewStep, Store } from "../../src/stores/contract/store.ts";
import {
  draft,
  finished,
  inChat,
  insertCommand,
  type OpenStore,
  type Restartable,
  restartableStore,
  runningTurn,
  step,
  stopping,
} from "./store-setup.ts";

export const hourMs = 3_600_000;

export function ask(code: string, more: Partial<NewApproval> = {}): NewApproval {
  return {
    code,
    call: `call-${code}`,
    tool: "shell",
    input: '{"command":"git push"}',
    sha256: "push",
    risk: "high",
    rule: "policy.tools.shell",
    asker: { id: "terminal:ann", name: "Ann", role: "member" },
    approvers: "admin",
    quorum: 1,
    askedAt: 100,
    expiresAt: 100 + hourMs,
    origins: ["member", "web"],
    ...more,
  };
}

export function approvalAnswer(code: string, more: Partial<ApprovalAnswer> = {}): ApprovalAnswer {
  const bob = { person: "terminal:bob", actor: "member:bob", name: "Bob", role: "admin" } as const;
  return { code, allow: true, scope: "once", by: bob, at: 200, ...more };
}

export function by(person: string): ApprovalAnswer["by"] {
  return { person, actor: `member:${person}`, name: person, role: "admin" };
}

export function asking(...asks: NewApproval[]): NewStep {
  const toolCalls = asks.map(({ call, tool }) => ({ id: call, name: tool, input: { command: "git push" } }));
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  const model = { text: "", toolCalls, stop: "tool-calls", usage, model: "m" } as const;
  return {
    body: { kind: "model", answer: model, denied: [] },
    tokens: 7,
    at: 100,
    asks: asks.map((approval) => ({
      approval,
      card: draft(`May I? ${approval.code}`, { kind: "notice", inReplyTo: [], turn: "t" }),
    })),
  };
}

export const silent = () => [];

/** Answers by a command, and says what came of it. */
function answering(text: string, allow: boolean): Parameters<Store["commands"]["carryOut"]>[1] {
  return {
    at: 200,
    stops: false,
    answers: approvalAnswer("AAA", { allow }),
    tell: ({ answered }) => ({
      reason: "",
      lastStep: step(""),
      outgoing: [draft(`${text}: ${answered?.outcome}`)],
    }),
  };
}

const givingUp = { reason: "Too old.", lastStep: step("old"), outgoing: [] };

/** A store with a running turn `t` that has asked these. */
export async function openAsking(
  open: OpenStore,
  ...asks: NewApproval[]
): Promise<Restartable & { readonly step: number }> {
  const home = await restartableStore(open);
  await runningTurn(home.store);
  const { seq } = await home.store.turns.addStep("t", asking(...asks));
  return Object.assign(home, { step: seq });
}

async function codesOf(store: Store): Promise<string[]> {
  return (await store.approvals.open()).map(({ code }) => code);
}

/** Calls that people are asked about: asked with their step, answered once, given to the agent once. */
export function testApprovals(open: OpenStore): void {
  test("what is asked is open with its step and its card, and survives a restart", async () => {
    await using home = await openAsking(open, ask("AAA"), ask("BBB", { quorum: 2 }));

    const store = await home.restart();

    expect(await store.approvals.get("BBB")).toEqual({
      ...ask("BBB", { quorum: 2 }),
      group: "family",
      channel: "terminal",
      chat: "chat",
      session: expect.any(String),
      conversation: 1,
      turn: "t",
      step: home.step,
      state: "open",
      scope: undefined,
      decidedAt: undefined,
      decider: undefined,
      reason: undefined,
      votes: 0,
      releasedAt: undefined,
    });
    expect(await codesOf(store)).toEqual(["AAA", "BBB"]);
    expect(await store.approvals.openCount()).toBe(2);
    const cards = await store.outbox.unsent(10);
    expect(cards.map(({ text }) => text)).toEqual(["May I? AAA", "May I? BBB"]);
    expect(await store.approvals.ofCard(cards[1]?.seq ?? 0)).toMatchObject({ code: "BBB" });
    expect(await store.approvals.get("CCC")).toBeUndefined();
    const seqs = cards.map(({ seq }) => seq).toReversed();
    expect(await store.approvals.openCards("terminal", 9)).toEqual(seqs);
    await store.approvals.decide(approvalAnswer("AAA", { allow: false }), silent);
    const newest = await store.approvals.openCards("terminal", 1);
    expect([newest, await store.approvals.openCards("http", 9)]).toEqual([seqs.slice(0, 1), []]);
  });

  test("a proposed change and what becomes of it survive a restart; whatever scope is given, it is allowed once", async () => {
    const change = { diff: "+Be kind.", base: "abc" };
    await using home = await openAsking(open, ask("AAA", { change }));

    const allowed = await home.store.approvals.decide(approvalAnswer("AAA", { scope: "always" }), silent);
    await home.store.approvals.noteOutcome("AAA", "writing", [], 300);
    await home.store.approvals.noteOutcome("AAA", "changed", [draft("It has changed.")], 300);

    const { approvals, outbox } = await home.restart();
    expect(allowed.approval).toMatchObject({ change, scope: "once", outcome: undefined });
    expect(await approvals.get("AAA")).toMatchObject({ change, state: "allowed", scope: "once", outcome: "changed" });
    expect(await approvals.grants({ now: 300 })).toEqual([]);
    expect((await outbox.unsent(10)).map(({ text }) => text)).toContain("It has changed.");
  });

  test("what was decided long ago goes with retention, unless its turn still runs; what is allowed for good stays", async () => {
    await using home = await openAsking(open, ask("AAA"), ask("BBB"), ask("CCC"), ask("DDD"));
    const { approvals, retention, turns } = home.store;
    await approvals.decide(approvalAnswer("AAA", { scope: "always" }), silent);
    await approvals.decide(approvalAnswer("BBB", { scope: "day" }), silent);
    await approvals.decide(approvalAnswer("CCC", { scope: "session" }), silent);
    const long = 100 + 1_000 * hourMs;
    for (const code of ["AAA", "BBB", "CCC"]) await approvals.recorded(code);

    const running = await retention.approvals(150, 100);
    await turns.finish("t", { ...finished, at: 300 });
    await approvals.recorded("DDD");
    const young = await retention.approvals(150, 100);
    const old = await retention.approvals(long, 100);
    const again = await retention.approvals(long, 100);

    const restarted = (await home.restart()).approvals;
    expect([running, young, old, again]).toEqual([0, 0, 5, 0]);
    expect(await restarted.list({ limit: 10 })).toEqual([]);
    const kept = await restarted.grants({ now: 300 });
    expect(kept.map(({ scope }) => scope).toSorted()).toEqual(["always", "session"]);
  });

  test("a code that was used before opens nothing: neither its step nor its card is there", async () => {
    await using home = await openAsking(open, ask("AAA"));

    await expect(home.store.turns.addStep("t", asking(ask("BBB"), ask("AAA", { call: "other" })))).rejects.toThrow(
      "approvals.code",
    );

    expect((await home.store.turns.lastStep("t"))?.seq).toBe(home.step);
    expect(await home.store.outbox.unsent(10)).toHaveLength(1);
    expect(await codesOf(home.store)).toEqual(["AAA"]);
  });

  test("of two answers at once the first one counts, and only its words are said", async () => {
    await using home = await openAsking(open, ask("AAA"));
    const { approvals } = home.store;

    const answered = await Promise.all([
      approvals.decide(approvalAnswer("AAA", { allow: false, reason: "no" }), () => [draft("denied")]),
      approvals.decide(approvalAnswer("AAA", { by: by("cy") }), ({ outcome }) =>
        outcome === "settled" ? [] : [draft("yes")],
      ),
    ]);

    expect(answered.map(({ outcome }) => outcome)).toEqual(["denied", "settled"]);
    expect(answered[1].approval).toMatchObject({ state: "denied", reason: "no", decider: { name: "Bob" } });
    expect((await home.store.outbox.unsent(10)).map(({ text }) => text)).toEqual(["May I? AAA", "denied"]);
    await expect(approvals.decide(approvalAnswer("ZZZ"), silent)).rejects.toMatchObject({ code: "not_found" });
  });

  test("as many different people as the rule says have to allow it; one of them denies it; the narrowest scope counts", async () => {
    await using home = await openAsking(open, ask("AAA", { quorum: 2 }), ask("BBB", { quorum: 2 }));
    const { approvals } = home.store;

    const first = await approvals.decide(approvalAnswer("AAA", { by: by("ann"), scope: "always" }), silent);
    const again = await approvals.decide(approvalAnswer("AAA", { by: by("ann"), scope: "always" }), silent);
    const byOtherId = { ...by("ann-2"), alsoAs: ["x", by("ann").person] };
    const asOther = await approvals.decide(approvalAnswer("AAA", { by: byOtherId }), silent);
    const second = await approvals.decide(approvalAnswer("AAA", { by: by("bob"), scope: "session" }), silent);
    await approvals.decide(approvalAnswer("BBB", { by: by("ann") }), silent);
    const denied = await approvals.decide(approvalAnswer("BBB", { by: by("bob"), allow: false }), silent);

    expect(
      [first, again, asOther, second, denied].map(({ outcome, approval }) => `${outcome} ${approval.votes}`),
    ).toEqual(["counted 1", "counted 1", "counted 1", "allowed 2", "denied 1"]);
    expect(second.approval.scope).toBe("session");
  });

  test("a reaction that answers is known again, also one of somebody who was refused before; it counts as a person", async () => {
    await using home = await openAsking(open, ask("AAA", { quorum: 2 }), ask("BBB"));
    const { approvals } = home.store;
    const refused = { code: "AAA", person: "terminal:bob", id: "r1" };

    await approvals.refuseReaction(refused, { at: 150, most: 9, outgoing: [] });
    const first = await approvals.decide(approvalAnswer("AAA", { reaction: "r2" }), silent);
    const again = await approvals.decide(approvalAnswer("AAA", { reaction: "r3" }), silent);
    const store = await home.restart();

    expect([first.again, again.again]).toEqual([false, true]);
    expect([first, again].map(({ outcome, approval }) => `${outcome} ${approval.votes}`)).toEqual([
      "counted 1",
      "counted 1",
    ]);
    expect(await store.approvals.reactionOf("AAA", "terminal:bob")).toEqual({ ...refused, id: "r3", refused: false });
    expect(await store.approvals.reactionOf("AAA", "terminal:ann")).toBeUndefined();
    expect(await store.approvals.reactionOf("BBB", "terminal:bob")).toBeUndefined();
  });

  test("a reaction that is refused is said once for a person and a card, and to this many people only", async () => {
    await using home = await openAsking(open, ask("AAA"), ask("BBB"));
    const refuse = (code: string, person: string, id: string) =>
      home.store.approvals.refuseReaction(
        { code, person, id },
        { at: 150, most: 2, outgoing: [draft(`${person} ${code}`)] },
      );

    const said = [];
    for (const person of ["ann", "ann", "bob", "cy"]) said.push(await refuse("AAA", person, `of ${person}`));
    said.push(await refuse("BBB", "ann", "r"));
    const store = await home.restart();

    expect(said).toEqual([true, false, true, false, true]);
    expect((await store.outbox.unsent(10)).map(({ text }) => text).slice(2)).toEqual(["ann AAA", "bob AAA", "ann BBB"]);
    expect(await store.approvals.reactionOf("AAA", "cy")).toMatchObject({ refused: true, id: "of cy" });
    expect(await store.approvals.get("AAA")).toMatchObject({ state: "open", votes: 0 });
  });

  test("who answers when the time is over is too late; nobody's silence allows anything", async () => {
    await using home = await openAsking(open, ask("AAA"), ask("BBB"));
    const { approvals } = home.store;

    const late = await approvals.decide(approvalAnswer("AAA", { at: 100 + hourMs }), silent);
    const expired = await approvals.expire("BBB", 100 + hourMs, [draft("nobody answered")]);

    expect(late).toMatchObject({ outcome: "settled", approval: { state: "expired", scope: undefined } });
    expect(expired).toBe(true);
    expect(await approvals.expire("AAA", 100 + hourMs, [draft("not said")])).toBe(false);
    expect((await approvals.decide(approvalAnswer("BBB"), silent)).outcome).toBe("settled");
    expect((await home.store.outbox.unsent(10)).map(({ text }) => text)).not.toContain("not said");
  });

  test("decided calls are given out once, when the last of their answer is decided, by whoever works on the session", async () => {
    await using home = await openAsking(open, ask("AAA"), ask("BBB"));
    const { approvals, leases, turns } = home.store;
    const session = (await turns.get("t"))?.session ?? "";
    const old = await leases.claim(session, { owner: "one", now: 0, ttlMs: 10 });
    const lease = await leases.claim(session, { owner: "two", now: 100, ttlMs: 1_000 });
    await turns.addAttempt("t");

    await approvals.decide(approvalAnswer("AAA"), silent);
    const early = await approvals.release(home.step, 300, lease);
    await approvals.decide(approvalAnswer("BBB", { allow: false, reason: "not now" }), silent);

    expect(early).toBeUndefined();
    await expect(approvals.release(home.step, 300, old)).rejects.toMatchObject({ code: "fenced" });
    expect(await approvals.release(home.step, 300, lease)).toMatchObject([
      { code: "AAA", state: "allowed", releasedAt: 300 },
      { code: "BBB", state: "denied", reason: "not now" },
    ]);
    expect(await approvals.release(home.step, 301, lease)).toBeUndefined();
    // Attempts before people looked at it do not count.
    expect(await turns.addAttempt("t", lease)).toBe(1);
  });

  test("the end of a turn, also by a command, cancels what it has asked", async () => {
    await using home = await openAsking(open, ask("AAA"));
    const { approvals, commands, turns } = home.store;
    const stop = await insertCommand(home.store, "stop", "stop");

    await commands.carryOut(stop, stopping);

    expect(await approvals.get("AAA")).toMatchObject({ state: "cancelled", decidedAt: 95 });
    expect((await approvals.decide(approvalAnswer("AAA"), silent)).outcome).toBe("settled");
    await expect(approvals.release(home.step, 300)).rejects.toMatchObject({ code: "conflict" });
    await runningTurn(home.store, "u");
    await turns.addStep("u", asking(ask("UUU")));
    await turns.finish("u", finished);
    expect(await approvals.get("UUU")).toMatchObject({ state: "cancelled" });
  });

  test("an answer that is given by a command takes effect with it, once", async () => {
    await using home = await openAsking(open, ask("AAA"));
    const { commands } = home.store;
    const first = await insertCommand(home.store, "a1", "approve");
    const second = await insertCommand(home.store, "a2", "deny");

    await commands.carryOut(first, answering("approve", true));
    await commands.carryOut(first, answering("approve", true));
    await commands.carryOut(second, answering("deny", false));

    expect((await home.store.outbox.unsent(10)).map(({ text }) => text).slice(1)).toEqual([
      "approve: allowed",
      "deny: settled",
    ]);
  });

  test("a turn that waits for people is not given up as old", async () => {
    await using home = await openAsking(open, ask("AAA"));

    await home.store.commands.giveUpOld(inChat("family"), { at: 1_000, before: 900, tell: () => givingUp });

    expect(await home.store.turns.get("t")).toMatchObject({ state: "running" });
  });

  test("that it waits is said once, and what was decided is put on record once", async () => {
    await using home = await openAsking(open, ask("AAA"), ask("BBB"));
    const { approvals } = home.store;

    const told = [await approvals.tellWaiting("t", [draft("waits")], 110)];
    told.push(await approvals.tellWaiting("t", [draft("waits again")], 120));
    const before = await approvals.unrecorded();
    await approvals.decide(approvalAnswer("AAA"), silent);
    const store = await home.restart();
    const after = await store.approvals.unrecorded();
    await store.approvals.recorded("AAA");

    expect(told).toEqual([true, false]);
    expect(before).toEqual([]);
    expect(after.map(({ code }) => code)).toEqual(["AAA"]);
    expect(await store.approvals.unrecorded()).toEqual([]);
    expect((await store.outbox.unsent(10)).map(({ text }) => text)).not.toContain("waits again");
  });
}
