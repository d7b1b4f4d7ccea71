import { expect, test } from "vitest";
import * as z from "zod";

import type { Decider } from "../../../src/domain/rights/approval.ts";
import type { HostTool } from "../../../src/tools/define-tool.ts";
import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import { modelAnswer, openTurnRig } from "../../support/turn-rig.ts";

function tool(name: string, run: () => Promise<string>): HostTool {
  const fixed = { runs: "host", risk: "low", description: "", input: z.strictObject({}) } as const;
  return definePluginTool({ ...fixed, name, timeoutSeconds: 60, run });
}

const call = (id: string, name: string) => ({ id, name, input: {} });
const asking = { policy: { tools: { pay: "ask" as const } } };
const ann = { actor: "member:ann", person: "terminal:ann", name: "Ann", role: "member" } as const;

async function decide(
  { store }: Awaited<ReturnType<typeof openTurnRig>>,
  allow: boolean,
  given: { readonly by?: Decider; readonly reason?: string } = {},
): Promise<void> {
  const [approval] = await store.approvals.open();
  const answer = { code: approval?.code ?? "", allow, scope: "once", by: ann, at: Date.now(), ...given } as const;
  await store.approvals.decide(answer, () => []);
}

test("where people are asked about one call, no call of the answer runs before they have decided, and then each once", async () => {
  const ran: string[] = [];
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "look"), call("2", "pay")), modelAnswer("paid")],
    tools: [tool("look", async () => `${ran.push("look")}`), tool("pay", async () => `${ran.push("pay")}`)],
    policy: asking,
  });

  await rig.ask("hello");
  const before = [...ran];
  expect(rig.log.at(-1)).toBe("parked");
  await decide(rig, true);
  await rig.resume();

  expect(before).toEqual([]);
  expect(ran).toEqual(["look", "pay"]);
  expect(rig.events.map(({ type }) => type)).toContain("approval.used");
  expect((await rig.outbox()).at(-1)).toBe("paid");
});

test("a call that people deny does not run, and the model reads why; the others do", async () => {
  const ran: string[] = [];
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("1", "look"), call("2", "pay")), modelAnswer("not paid")],
    tools: [tool("look", async () => `${ran.push("look")}`), tool("pay", async () => `${ran.push("pay")}`)],
    policy: asking,
  });

  await rig.ask("hello");
  await decide(rig, false);
  await rig.resume();

  const [turn] = await rig.store.turns.list({ limit: 1 });
  const results = (await rig.store.turns.steps(turn?.id ?? "")).flatMap(({ body }) =>
    body.kind === "tools" ? body.results : [],
  );
  expect(ran).toEqual(["look"]);
  expect(results.find(({ callId }) => callId === "2")).toMatchObject({ isError: true });
  expect((await rig.outbox()).at(-1)).toBe("not paid");
});

test.each([
  ["brings along the role of whoever gave it", "the owner says that you have to", ["guest"]],
  ["that was not given brings nothing", undefined, []],
])("the reason of a denial %s", async (_case, reason, origins) => {
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("2", "pay")), modelAnswer("not paid")],
    tools: [tool("pay", async () => "paid")],
    policy: asking,
  });

  await rig.ask("hello");
  const [turn] = await rig.store.turns.list({ limit: 1 });
  const before = (await rig.store.turns.get(turn?.id ?? ""))?.lineage.origins ?? [];
  await decide(rig, false, { by: { ...ann, role: "guest" }, ...(reason !== undefined && { reason }) });
  await rig.resume();
  const after = (await rig.store.turns.get(turn?.id ?? ""))?.lineage.origins ?? [];

  expect(after.filter((origin) => !before.includes(origin))).toEqual(origins);
});

test("while people have not decided, the turn takes no container", async () => {
  await using rig = await openTurnRig({
    answers: [modelAnswer("", call("2", "pay"))],
    tools: [tool("pay", async () => "")],
    policy: asking,
  });

  await rig.ask("hello");
  await rig.resume();

  expect(rig.agents).toHaveLength(1);
});

test.for(['{"command":', [1], 5])(
  "a call with %j for arguments does not run, and the model reads why",
  async (input) => {
    const ran: string[] = [];
    await using rig = await openTurnRig({
      answers: [modelAnswer("", { id: "1", name: "look", input }, call("2", "look")), modelAnswer("looked")],
      tools: [tool("look", async () => `${ran.push("look")}`)],
    });

    await rig.ask("hello");

    const [turn] = await rig.store.turns.list({ limit: 1 });
    const bodies = (await rig.store.turns.steps(turn?.id ?? "")).map(({ body }) => body);
    const reason = "look was not run, because its arguments are not a JSON object: ";
    expect(ran).toEqual(["look"]);
    expect(bodies.flatMap((body) => (body.kind === "model" ? body.denied : []))).toMatchObject([
      { callId: "1", isError: true, output: reason + (typeof input === "string" ? input : JSON.stringify(input)) },
    ]);
    expect((await rig.outbox()).at(-1)).toBe("looked");
  },
);
