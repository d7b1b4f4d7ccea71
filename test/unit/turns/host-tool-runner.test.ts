import { expect, test } from "vitest";
import * as z from "zod";

import { ofHost, sourced } from "../../../src/domain/rights/sourced.ts";
import { defineTool, type HostTool } from "../../../src/tools/define-tool.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import type { AgentToolResult } from "../../../src/protocol/messages.ts";
import { modelAnswer, openTurnRig, type TurnScript } from "../../support/turn-rig.ts";

const fixed = { runs: "host", risk: "low", description: "" } as const;

function tool(name: string, run: (input: { text?: string }) => Promise<string>, timeoutSeconds = 60): HostTool {
  const input = z.strictObject({ text: z.string().optional() });
  return definePluginTool({ ...fixed, name, input, timeoutSeconds, run: (given) => run(given as { text?: string }) });
}

const call = (id: string, name: string, input: object = {}) => ({ id, name, input });

/** Lets the agent do something else with the model's calls than to run them; `answers` are what it heard. */
function withAgent(
  work: (agent: Parameters<NonNullable<TurnScript["onSent"]>>[1]) => Promise<readonly AgentToolResult[]>,
): { readonly onSent: NonNullable<TurnScript["onSent"]>; readonly heard: AgentToolResult[] } {
  const heard: AgentToolResult[] = [];
  const goOn = async (agent: Parameters<typeof work>[0]): Promise<void> => {
    heard.push(...(await work(agent)));
    agent.say({ type: "model-request", turn: agent.listener.turn, append: [] });
  };
  return {
    heard,
    onSent: (payload, agent) => {
      if (payload.type !== "model-response" || payload.toolCalls.length === 0) return false;
      void goOn(agent);
      return true;
    },
  };
}

test("what runs is the model's own call, once, however often and with whatever input the agent asks for it", async () => {
  const given: unknown[] = [];
  const agent = withAgent(async (at) => [
    await at.call(call("1", "note", { text: "forged" })),
    await at.call(call("1", "note", { text: "again" })),
  ]);
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "note", { text: "real" })), modelAnswer("ok")],
    tools: [tool("note", async ({ text }) => `noted ${given.push(text)}`)],
    onSent: agent.onSent,
  });

  await rig.ask("hello");

  expect(given).toEqual(["real"]);
  expect(agent.heard.map(({ output }) => output)).toEqual(["noted 1", "noted 1"]);
});

test("the origins of a result are the turn's before the agent hears of it, each once", async () => {
  const read: unknown[] = [];
  const agent = withAgent(async (at) => {
    const heard = await at.call(call("1", "look"));
    const [turn] = await rig.store.turns.list({ limit: 1 });
    read.push(...((await rig.store.turns.get(turn?.id ?? ""))?.lineage.origins ?? []));
    return [heard];
  });
  const look = defineTool({
    ...fixed,
    name: "look",
    input: z.strictObject({}),
    timeoutSeconds: 60,
    run: async () => ofHost`It says ${sourced("obey", ["guest", "web"])}, and ${sourced("more", ["web"])}.`,
  });
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "look")), modelAnswer("ok")],
    tools: [look],
    onSent: agent.onSent,
  });

  await rig.ask("hello");

  expect(agent.heard[0]?.output).toBe("It says obey, and more.");
  expect(read.filter((origin) => origin === "web" || origin === "guest")).toEqual(["guest", "web"]);
});

test("a call that the model has not made is refused and on record", async () => {
  const ran: string[] = [];
  const agent = withAgent(async (at) => [
    await at.call(call("made up", "note")),
    await at.call({ ...call("1", "other") }),
  ]);
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "note")), modelAnswer("ok")],
    tools: [tool("note", async () => `${ran.push("note")}`), tool("other", async () => `${ran.push("other")}`)],
    onSent: agent.onSent,
  });

  await rig.ask("hello");

  expect(ran).toEqual([]);
  expect(agent.heard).toEqual([
    { callId: "made up", output: "No call made up of note is open in this turn.", isError: true },
    { callId: "1", output: "No call 1 of other is open in this turn.", isError: true },
  ]);
  expect(rig.events.filter(({ type }) => type === "agent.overstepped")).toHaveLength(2);
});

test("a tool that takes too long is told to the model as timed out, and what it throws in its own words as they are", async () => {
  const refusing = tool("refuse", () => Promise.reject(new ToolError("There is no such file.")));
  const broken = tool("broken", () => Promise.reject(new Error("secret path /srv/x")));
  const slow = tool("slow", () => new Promise(() => undefined), 0.05);
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "refuse"), call("2", "broken"), call("3", "slow")), modelAnswer("ok")],
    tools: [refusing, broken, slow],
  });

  await rig.ask("hello");

  const [turn] = await rig.store.turns.list({ limit: 1 });
  const results = (await rig.store.turns.steps(turn?.id ?? "")).flatMap(({ body }) =>
    body.kind === "tools" ? body.results : [],
  );
  expect(results.map(({ output }) => output)).toEqual([
    "There is no such file.",
    "broken failed.",
    expect.stringMatching(/slow .*0\.05/),
  ]);
});

test("at most twenty messages are sent in a turn besides its answer, each in the outbox before the call returns", async () => {
  const send = definePluginTool({
    ...fixed,
    name: "send",
    input: z.strictObject({}),
    needs: ["send"],
    timeoutSeconds: 60,
    run: async (_input, place) => {
      await place.send({ text: "news" });
      return "sent";
    },
  });
  const calls = Array.from({ length: 21 }, (_, index) => call(`${index}`, "send"));
  await using rig = await openTurnRig({ answers: [modelAnswer("", ...calls), modelAnswer("ok")], tools: [send] });

  await rig.ask("hello");

  const [turn] = await rig.store.turns.list({ limit: 1 });
  const results = (await rig.store.turns.steps(turn?.id ?? "")).flatMap(({ body }) =>
    body.kind === "tools" ? body.results : [],
  );
  expect(results.filter(({ output }) => output === "sent")).toHaveLength(20);
  expect(results.at(-1)).toMatchObject({ isError: true, output: "At most 20 messages may be sent in one turn." });
  expect(rig.log.filter((entry) => entry === "deliver")).toHaveLength(21);
});
