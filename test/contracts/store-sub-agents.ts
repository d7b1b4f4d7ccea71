import { expect, test } from "vitest";

import { sideSessionKey } from "../../src/domain/turns/session.ts";
import { type NewSubAgent, subAgentId } from "../../src/domain/work/sub-agent.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { byMessage, finished, inChat, type OpenStore, restartableStore, step } from "./store-setup.ts";
import { ofMember } from "../support/lineages.ts";

const minute = 60_000;
const reading = { estimateTokens: () => 1 };

function spawn(number: number, more: Partial<NewSubAgent> = {}): NewSubAgent {
  return {
    number,
    key: sideSessionKey({ channel: "terminal", chat: "chat" }, { kind: "agent", id: subAgentId(number) }),
    call: `call-${number}`,
    position: number,
    depth: 1,
    background: false,
    task: "find it out",
    text: "find it out",
    lineage: ofMember,
    createdAt: 100,
    expiresAt: 100 + minute,
    atOnce: 20,
    ...more,
  };
}

const tell = () => ({ reason: "away", lastStep: step("over"), outgoing: [] });

/** A turn of the family's main session with these sub-agents, begun by its step. */
async function beginTurn(store: Store, id: string, spawns: readonly NewSubAgent[]): Promise<string> {
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  await store.turns.begin(
    { id, session, group: "family", conversation: 1, ...byMessage, at: 50 },
    step("hello", { messages: [], cursor: 0, lineage: ofMember }),
  );
  await store.turns.addStep(id, { ...step("some are made"), spawns });
  return session;
}

/** Ended, handed over and cleared at this time. */
async function conclude(store: Store, id: string, at: number): Promise<void> {
  await store.subAgents.end(id, { state: "expired", reason: "its time was over", at, ...reading });
  await store.subAgents.deliver(id, { files: [], text: "over", at });
  await store.subAgents.removed(id, at);
}

/** Sub-agents: each begins with its step, ends once, hands over once, and is forgotten when nobody needs it. */
export function testSubAgents(open: OpenStore): void {
  test("a number is given once, also over restarts and when all sub-agents are forgotten", async () => {
    await using home = await restartableStore(open);
    const first = [await home.store.subAgents.nextNumber(), await home.store.subAgents.nextNumber()];
    const store = await home.restart();

    expect([...first, await store.subAgents.nextNumber()]).toEqual([1, 2, 3]);
  });

  test("one ends once and is handed over once; what came first counts", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await beginTurn(store, "t", [spawn(1)]);

    const ends = [
      await store.subAgents.end("agent-1", { state: "expired", reason: "late", at: 200, ...reading }),
      await store.subAgents.end("agent-1", { state: "cancelled", reason: "stopped", at: 201, ...reading }),
    ];
    const handed = [
      await store.subAgents.deliver("agent-1", { files: [], text: "over", at: 300 }),
      await store.subAgents.deliver("agent-1", { files: ["/x"], text: "again", at: 301 }),
    ];

    expect(ends).toEqual([[], undefined]);
    expect(handed).toEqual([true, false]);
    expect(await store.subAgents.get("agent-1")).toMatchObject({ state: "expired", text: "late", files: [] });
  });

  test("one that is told more while it answers has answered when it has answered that, too; both are its result", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await beginTurn(store, "t", [spawn(1)]);
    const { session = "" } = (await store.subAgents.get("agent-1")) ?? {};
    const replyTo = { kind: "session", session: "parent" } as const;
    const work = {
      group: "family",
      session,
      cause: "agent",
      replyTo,
      origin: "member",
      lineage: ofMember,
      dueAt: 100,
    } as const;
    const answer = async (id: string, handsBack: string) => {
      const takesWork = (await store.work.due(session, 130))?.seq ?? 0;
      const turn = { id, session, group: "family", conversation: 1, cause: "agent", replyTo, at: 110 } as const;
      await store.turns.begin(turn, { ...step("work"), takesWork: { seq: takesWork, lineage: ofMember } });
      return () => store.turns.finish(id, { ...finished, handsBack });
    };

    const first = await answer("one", "seven crabs");
    await store.work.add({ ...work, id: "more", text: "and the shrimps" }, 120);
    await first();
    const between = await store.subAgents.get("agent-1");
    const second = await answer("two", "two shrimps");
    await second();

    expect(between?.state).toBe("running");
    expect(await store.subAgents.get("agent-1")).toMatchObject({ state: "done", text: "seven crabs\n\ntwo shrimps" });
  });

  test("those that are over are forgotten with their sessions when they are old enough, the lowest first, and their turn has ended", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const main = await beginTurn(store, "t", [spawn(1), spawn(2)]);
    const child = (await store.subAgents.get("agent-1"))?.session ?? "";
    await store.turns.begin(
      {
        id: "below",
        session: child,
        group: "family",
        conversation: 1,
        cause: "agent",
        replyTo: byMessage.replyTo,
        at: 70,
      },
      step("work", { messages: [], cursor: 0, lineage: ofMember }),
    );
    await store.turns.addStep("below", { ...step("more"), spawns: [spawn(3, { depth: 2 })] });
    await conclude(store, "agent-3", 200);
    await conclude(store, "agent-1", 200);
    await conclude(store, "agent-2", 5_000);
    const whileRunning = await store.subAgents.prune(1_000, 100);
    await store.turns.finish("t", finished);
    const windows = { after: 0, limit: 100, before: 1_000 };

    const withSteps = await store.subAgents.prune(1_000, 100);
    await store.retention.steps(windows);
    const rounds = [await store.subAgents.prune(1_000, 100), await store.subAgents.prune(1_000, 100)];

    expect([whileRunning, withSteps]).toEqual([1, 0]);
    expect(rounds).toEqual([1, 0]);
    const left = await store.subAgents.list({ limit: 10 });
    expect(left.map(({ id }) => id)).toEqual(["agent-2"]);
    const sessions = await store.sessions.get(child);
    expect(sessions).toBeUndefined();
    expect(await store.sessions.get(main)).toBeDefined();
    expect(await store.turns.get("below")).toBeUndefined();
    expect(await store.subAgents.nextNumber()).toBe(1);
  });

  test("after an absence a turn that waits for a sub-agent, or has just got its result, goes on however long ago it began", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await beginTurn(store, "t", [spawn(1)]);
    const giveUp = async (before: number) => {
      return (await store.commands.giveUpOld(inChat("family"), { at: before, before, tell })).turns.length;
    };

    const waiting = await giveUp(50_000);
    await conclude(store, "agent-1", 60_000);
    const delivered = await giveUp(60_000);
    const long = await giveUp(60_001);

    expect([waiting, delivered, long]).toEqual([0, 0, 1]);
  });
}
