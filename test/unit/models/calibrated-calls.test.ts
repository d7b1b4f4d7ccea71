import { expect, test } from "vitest";

import { modelCall, openModelCalls } from "./open-model-calls.ts";

const capabilities = { "claude/small": { contextTokens: 100_000, maxOutputTokens: 8_000 } };
/** About 3,000 tokens, as they are estimated. */
const long = { messages: [{ role: "user", text: "x".repeat(9_000) }] } as const;

test("what a model counts changes how long prompts may be and what is reserved for them, and is kept", async () => {
  const usage = { input: 6_000, output: 5 };
  await using opened = await openModelCalls({
    route: ["claude/small"],
    capabilities,
    first: () => ({ text: "hi", usage }),
  });
  const reserved = () =>
    opened.records.flatMap((event) => (event.type === "model.requested" ? [event.data.reservedTokens - 8_000] : []));

  const before = opened.models.promptTokens(undefined);
  await opened.models.complete(modelCall(long));
  await opened.models.complete(modelCall(long));

  const [first = 0, second = 0] = reserved();
  expect(before).toBe(92_000);
  expect(second / first).toBeCloseTo(1.5, 1);
  expect(opened.models.promptTokens(undefined)).toBeLessThan(92_000 / 1.5);
  const kept = await opened.usage.tokenFactors();
  expect(kept.get("claude/small")).toBeGreaterThan(1.6);
});

test("a model that counts next to nothing makes windows no longer than they are", async () => {
  await using opened = await openModelCalls({
    route: ["claude/small"],
    capabilities,
    first: () => ({ text: "hi", usage: { input: 1, output: 1 } }),
  });

  for (let call = 0; call < 60; call += 1) await opened.models.complete(modelCall(long));

  expect(opened.models.promptTokens(undefined)).toBe(92_000);
});

/** The window and the room that are left when a server has refused a prompt in these words. */
async function refusing(message: string): Promise<[number, number]> {
  await using opened = await openModelCalls({
    route: ["claude/small"],
    capabilities,
    first: () => ({ fault: "status", status: 400, message }),
  });
  await expect(opened.models.complete(modelCall(long))).rejects.toMatchObject({ code: "context_too_large" });
  return [opened.models.windowTokens(undefined), opened.models.promptTokens(undefined)];
}

test("a refused prompt teaches how large the window is, by the server's words or by what it refused, and answers leave room", async () => {
  expect(await refusing("prompt is too long: 9000 tokens > 6000 maximum")).toEqual([6_000, 3_000]);
  const [guessed] = await refusing("prompt is too long");
  expect(guessed).toBeGreaterThan(8_000);
  expect(guessed).toBeLessThan(11_500);
});

test("a server that reports no usage teaches nothing", async () => {
  await using opened = await openModelCalls({
    route: ["gpt/small"],
    capabilities: { "gpt/small": { contextTokens: 100_000, maxOutputTokens: 8_000 } },
    second: () => ({ text: "hi", usage: null }),
  });

  const { usage } = await opened.models.complete(modelCall(long));

  expect(usage).toMatchObject({ isEstimate: true });
  expect(opened.models.promptTokens(undefined)).toBe(92_000);
  expect(await opened.usage.tokenFactors()).toEqual(new Map());
});
