import { expect, test } from "vitest";
import * as z from "zod";

import { AppError } from "../../../src/lib/app-error.ts";
import type { HostTool } from "../../../src/tools/define-tool.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import { modelAnswer, openTurnRig } from "../../support/turn-rig.ts";

function tool(name: string, run: () => Promise<string>, timeoutSeconds = 60): HostTool {
  const fixed = { runs: "host", risk: "low", description: "", input: z.strictObject({}) } as const;
  return definePluginTool({ ...fixed, name, timeoutSeconds, run });
}

const dice = { id: "1", name: "dice", input: {} };

test("each answer and each result is stored before it is acted on, and the reply is delivered after the end is stored", async () => {
  let seen: unknown;
  await using rig = await openTurnRig({
    answers: [modelAnswer("", dice), modelAnswer("you rolled 4")],
    tools: [tool("dice", async () => "4")],
    onSent: async (payload, agent) => {
      if (payload.type !== "model-response" || payload.toolCalls.length === 0) return false;
      seen = (await rig.store.turns.lastStep(agent.listener.turn))?.body;
      return false;
    },
  });

  expect(await rig.ask("hello")).toBeUndefined();

  expect(seen).toMatchObject({ kind: "model", answer: { toolCalls: [dice] } });
  expect(rig.log).toEqual([
    "began",
    "turn.started",
    "turn-start",
    "ask after user",
    "tool.called",
    "model-response",
    "tool-response",
    "tool.returned",
    "ask after tools",
    "model-response",
    "release",
    "deliver",
    "ended",
    "turn.ended",
  ]);
  expect(await rig.outbox()).toEqual(["you rolled 4"]);
});

test("a container that dies is replaced once, by one that resumes after the last stored step; a second death ends the turn", async () => {
  await using rig = await openTurnRig({
    answers: [modelAnswer("", dice), modelAnswer("never shown")],
    tools: [tool("dice", async () => "4")],
    onSent: async (payload, agent) => {
      if (payload.type === "turn-start") return payload.resumed && (await agent.close("out of memory"), true);
      return payload.type === "model-response" && (await agent.close("out of memory"), true);
    },
  });

  await rig.ask("hello");

  const [turn] = await rig.store.turns.list({ limit: 1 });
  expect(rig.agents).toHaveLength(2);
  expect(turn).toMatchObject({ state: "failed", attempts: 2 });
  expect((await rig.store.turns.steps(turn?.id ?? "")).map(({ body }) => body.kind)).toEqual(["user", "model", "user"]);
  // Members hear nothing of containers.
  expect(await rig.outbox()).toEqual([expect.stringMatching(/^I could not finish this: the container that I work in/)]);
});

test("a call that had begun when its container died is told to the model as interrupted, and is not run again", async () => {
  let runs = 0;
  await using rig = await openTurnRig({
    answers: [modelAnswer("", dice), modelAnswer("done")],
    tools: [tool("dice", async () => `run ${(runs += 1)}`)],
    onSent: async (payload, agent) => payload.type === "tool-response" && (await agent.close("killed"), true),
  });

  await rig.ask("hello");

  const [turn] = await rig.store.turns.list({ limit: 1 });
  const results = (await rig.store.turns.steps(turn?.id ?? "")).flatMap(({ body }) =>
    body.kind === "tools" ? body.results : [],
  );
  expect(runs).toBe(1);
  expect(results).toEqual([{ callId: "1", output: "interrupted, result unknown", isError: true }]);
  expect(await rig.outbox()).toEqual(["done"]);
});

test("a turn that was ended in the store while it worked keeps that end, and its answer goes nowhere", async () => {
  const stopping = {
    at: 20,
    reason: "stopped",
    lastStep: { body: { kind: "user", text: "stopped" } as const, tokens: 1, at: 20 },
  };
  await using rig = await openTurnRig({
    answers: [modelAnswer("too late")],
    onSent: async (payload, agent) => {
      if (payload.type !== "model-response") return false;
      const turn = await rig.store.turns.get(agent.listener.turn);
      await rig.store.turns.finish(agent.listener.turn, {
        state: "cancelled",
        reason: stopping.reason,
        at: stopping.at,
        steps: [stopping.lastStep],
        outgoing: [],
      });
      expect(turn && rig.active.cancel(turn, stopping.reason)).toBe(true);
      return true;
    },
  });

  await rig.ask("hello");

  expect(await rig.store.turns.list({ limit: 1 })).toMatchObject([{ state: "cancelled", reason: "stopped" }]);
  expect(await rig.outbox()).toEqual([]);
  expect(rig.log.at(-1)).toBe("turn.ended");
});

test("a host whose lease another one has got works on nothing of the session", async () => {
  await using rig = await openTurnRig({ answers: [modelAnswer("not mine")] });
  const { id } = await rig.session();
  await rig.store.leases.claim(id, { owner: "another host", now: Date.now(), ttlMs: 60_000 });

  await expect(rig.ask("hello")).rejects.toMatchObject({ code: "fenced" });

  expect(rig.log).toEqual([]);
  expect(await rig.store.turns.list({ limit: 1 })).toEqual([]);
});

test("an answer that comes after the lease was lost is not stored, and nothing is sent", async () => {
  await using rig = await openTurnRig({
    answers: [modelAnswer("fenced off")],
    onSent: async (payload, agent) => {
      if (payload.type !== "turn-start") return false;
      const { id } = await rig.session();
      await rig.store.leases.endAll();
      await rig.store.leases.claim(id, { owner: "another host", now: Date.now(), ttlMs: 60_000 });
      agent.say({ type: "model-request", turn: agent.listener.turn, append: [] });
      return true;
    },
  });

  await expect(rig.ask("hello")).rejects.toMatchObject({ code: "fenced" });

  const [turn] = await rig.store.turns.list({ limit: 1 });
  expect(turn?.state).toBe("running");
  expect((await rig.store.turns.steps(turn?.id ?? "")).map(({ body }) => body.kind)).toEqual(["user"]);
  expect(await rig.outbox()).toEqual([]);
});

test("a model that cannot be asked ends the turn in words for members; the container hears nothing of the reason", async () => {
  const sent: unknown[] = [];
  await using rig = await openTurnRig({
    answers: [new AppError("model_unavailable", "claude/x: 529 overloaded, key sk-1")],
    onSent: (payload) => (payload.type === "model-failure" ? sent.push(payload.reason) > 0 : false),
  });

  await rig.ask("hello");

  expect(sent).toEqual(["The model could not be asked."]);
  expect(await rig.outbox()).toEqual([
    "I could not finish this: I cannot reach my model just now. The operator has been told.",
  ]);
});

test("an empty answer is told as such", async () => {
  await using rig = await openTurnRig({ answers: [modelAnswer("  ")] });

  await rig.ask("hello");

  expect(await rig.outbox()).toEqual(["The model gave an empty answer."]);
});

test("where nothing is due, no turn begins", async () => {
  await using rig = await openTurnRig({ answers: [] });

  expect(await rig.resume()).toBeUndefined();
  expect(rig.log).toEqual([]);
});
