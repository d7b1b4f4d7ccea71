import { expect, test } from "vitest";
import * as z from "zod";

import type { HostTool } from "../../../src/tools/define-tool.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import { modelAnswer, openTurnRig } from "../../support/turn-rig.ts";

function tool(name: string, run: (signal: AbortSignal) => Promise<string>, timeoutSeconds = 60): HostTool {
  const fixed = { runs: "host", risk: "low", description: "", input: z.strictObject({}) } as const;
  return definePluginTool({ ...fixed, name, timeoutSeconds, run: (_input, { signal }) => run(signal) });
}

const call = (id: string, name = "dice") => ({ id, name, input: {} });

test("a turn that takes too long fails with its limit, and its agent is told to stop", async () => {
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "slow"))],
    tools: [tool("slow", (signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)))],
    settings: { timeoutMs: 50 },
  });

  await rig.ask("hello");

  const [turn] = await rig.store.turns.list({ limit: 1 });
  expect(turn).toMatchObject({ state: "failed", reason: "It took longer than the 0 seconds that a turn may take." });
  expect(rig.log).toContain("cancel");
  expect(rig.events).toContainEqual(
    expect.objectContaining({ type: "limit.reached", data: expect.objectContaining({ limit: "turn-time" }) }),
  );
});

test("a host that stops leaves the turn as it is, to be resumed", async () => {
  const stop = new AbortController();
  await using rig = await openTurnRig({
    answers: [modelAnswer("said after the restart")],
    onSent: (payload) => {
      if (payload.type === "turn-start" && !payload.resumed) stop.abort();
      return payload.type === "turn-start" && !payload.resumed;
    },
  });
  await rig.store.messages.insert(
    { channel: "terminal", chat: "chat", id: "1", sender: { id: "ann", name: "Ann" }, text: "hello", mention: false },
    { group: "family", state: "waiting", at: 1 },
  );

  await rig.resume(stop.signal);
  const before = (await rig.store.turns.list({ limit: 1 }))[0]?.state;
  await rig.resume();

  expect(before).toBe("running");
  expect(await rig.outbox()).toEqual(["said after the restart"]);
});

test("an agent that ends the turn before the model has answered is on record, and the turn fails", async () => {
  await using rig = await openTurnRig({
    answers: [],
    onSent: (payload, agent) => {
      if (payload.type !== "turn-start") return false;
      agent.say({ type: "turn-end", turn: agent.listener.turn, outcome: "done", text: "I am done" });
      return true;
    },
  });

  await rig.ask("hello");

  expect(rig.events.map(({ type }) => type)).toContain("agent.overstepped");
  expect(rig.events.map(({ type }) => type)).toContain("agent.failed");
  expect(rig.log).toContain("close");
  expect(await rig.outbox()).toEqual([expect.not.stringContaining("I am done")]);
});

test("what an agent says of another turn changes nothing", async () => {
  await using rig = await openTurnRig({
    answers: [modelAnswer("the answer")],
    onSent: (payload, agent) => {
      if (payload.type === "turn-start")
        agent.say({ type: "turn-end", turn: "another turn", outcome: "failed", text: "no" });
      return false;
    },
  });

  await rig.ask("hello");

  expect(await rig.outbox()).toEqual(["the answer"]);
});

test("a model that asks only for what it may not use is told so, and given up after eight rounds", async () => {
  const answers = Array.from({ length: 9 }, (_, index) => modelAnswer("", { ...call(`${index}`), input: { index } }));
  await using rig = await openTurnRig({
    answers,
    tools: [tool("dice", async () => "4")],
    policy: { policy: { tools: { dice: "deny" } } },
  });

  await rig.ask("hello");

  expect(rig.events.filter(({ type }) => type === "tool.denied")).toHaveLength(8);
  expect(rig.log).not.toContain("tool-response");
  expect(await rig.outbox()).toEqual([expect.stringContaining("kept asking for tools")]);
});
