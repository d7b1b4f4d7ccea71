import { expect, test } from "vitest";
import * as z from "zod";

import { definePluginTool } from "../../../src/plugins/define-plugin-tool.ts";
import { modelAnswer, openTurnRig, type TurnScript } from "../../support/turn-rig.ts";

const refusal = "somebody behind it may not set the agent of this group to work.";
const pay = { id: "1", name: "pay", input: {} };

/** A turn whose call is asked about, answered by the model as soon as it may. */
function asking(): Pick<TurnScript, "tools" | "policy"> {
  const fixed = { runs: "host", risk: "low", description: "", timeoutSeconds: 60, input: z.strictObject({}) } as const;
  return {
    tools: [definePluginTool({ ...fixed, name: "pay", run: async () => "paid" })],
    policy: { policy: { tools: { pay: "ask" } } },
  };
}

type Rig = Awaited<ReturnType<typeof openTurnRig>>;

async function allow({ store }: Rig): Promise<void> {
  const [approval] = await store.approvals.open();
  const by = { actor: "member:bob", person: "terminal:bob", name: "Bob", role: "admin" } as const;
  await store.approvals.decide(
    { code: approval?.code ?? "", allow: true, scope: "once", by, at: Date.now() } as const,
    () => [],
  );
}

/** Words said for each of these messages. */
async function endsOf({ store }: Rig, ...ids: readonly string[]): Promise<readonly string[]> {
  const replies = await store.outbox.list({ limit: 20 });
  return ids.map((id) =>
    replies
      .filter(({ inReplyTo }) => inReplyTo.includes(id))
      .map(({ text }) => text)
      .join(),
  );
}

async function shownIn({ store }: Rig): Promise<string> {
  const turns = await store.turns.list({ limit: 9 });
  const steps = await Promise.all(turns.map(({ id }) => store.turns.steps(id)));
  return JSON.stringify(steps.flat().map(({ body }) => body));
}

test("a parked turn does not go on for somebody who was denied meanwhile, and the others are answered", async () => {
  const denied = new Set<string>();
  await using rig = await openTurnRig({ ...asking(), denied, answers: [modelAnswer("", pay), modelAnswer("for ann")] });

  await rig.ask("mine", { id: "his", by: "gus" });
  denied.add("gus");
  await allow(rig);
  const left = await rig.resume();
  const paid = rig.events.filter(({ type }) => type === "approval.used");
  const done = await rig.resume();

  expect(left).toBe("messages");
  expect(done).toBeUndefined();
  expect(paid).toEqual([]);
  expect(await endsOf(rig, "mine", "his")).toEqual(["for ann", `I could not finish this: ${refusal}`]);
});

test("a parked turn asks again who is heard: nothing is done for somebody who was denied meanwhile", async () => {
  const denied = new Set<string>();
  await using rig = await openTurnRig({ ...asking(), denied, answers: [modelAnswer("", pay), modelAnswer("paid")] });

  await rig.ask("mine");
  denied.add("ann");
  await allow(rig);
  await rig.resume();

  expect(await endsOf(rig, "mine")).toEqual([`I could not finish this: ${refusal}`]);
  expect(rig.events.map(({ type }) => type)).not.toContain("approval.used");
});

test("of messages that wait together, those of somebody denied are refused unread, the others answered", async () => {
  const denied = new Set(["gus"]);
  await using rig = await openTurnRig({ denied, answers: [modelAnswer("for ann")] });

  const left = await rig.ask("mine", { id: "his", by: "gus" });
  await rig.resume();

  expect(left).toBe("messages");
  expect(await endsOf(rig, "mine", "his")).toEqual(["for ann", `I could not finish this: ${refusal}`]);
  const shown = await shownIn(rig);
  expect(shown).toContain("text of mine");
  expect(shown).not.toContain("text of his");
});
