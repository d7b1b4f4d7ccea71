import { expect, test } from "vitest";

import { capabilityOf, costUsd, outputTokensOf } from "../../../../src/models/knowledge/capabilities.ts";
import models from "../../../../src/models/knowledge/models.json" with { type: "json" };

test("a dated name means the model", () => {
  expect(capabilityOf("openai", "gpt-6.1-sol-2026-09-29")).toEqual(capabilityOf("openai", "gpt-6.1-sol"));
  expect(capabilityOf("anthropic", "claude-haiku-4-5-20251001").outputUsd).toBe(5);
});

test("an unknown model is taken for a small one without a price", () => {
  expect(capabilityOf("openai", "llama-on-my-desk")).toMatchObject({
    contextTokens: 32_768,
    tools: true,
    inputUsd: undefined,
  });
});

test("the configuration overrides what is built in, one number at a time", () => {
  const capability = capabilityOf("anthropic", "claude-opus-5-5", { contextTokens: 1_000_000, vision: undefined });

  expect(capability).toMatchObject({ contextTokens: 1_000_000, vision: true, outputUsd: 20 });
});

test("cached input has its own price, and without one that of other input", () => {
  const capability = capabilityOf("openai", "x", { inputUsd: 4, outputUsd: 20 });
  const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 100_000 };

  expect(costUsd({ ...capability, cachedInputUsd: 1 }, usage)).toBeCloseTo(2 + 0.5 + 2);
  expect(costUsd(capability, usage)).toBeCloseTo(4 + 2);
  expect(costUsd({ ...capability, outputUsd: undefined }, usage)).toBeUndefined();
});

test("every built-in model leaves room for a prompt and has prices that make sense", () => {
  const names = Object.entries(models).flatMap(([kind, ofKind]) => Object.keys(ofKind).map((name) => [kind, name]));

  expect(names.length).toBeGreaterThan(30);
  for (const [kind = "", name = ""] of names) {
    const capability = capabilityOf(kind, name);
    const { inputUsd, outputUsd } = capability;
    expect(outputTokensOf(capability)).toBeLessThanOrEqual(capability.contextTokens / 2);
    expect([inputUsd, outputUsd]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(capability.cachedInputUsd ?? inputUsd).toBeLessThanOrEqual(inputUsd ?? -1);
    expect(inputUsd).toBeLessThanOrEqual(outputUsd ?? -1);
  }
});

test("where the price of what comes from the cache is not known, it costs as much as the rest; a model without a price has no cost", () => {
  const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 0 };

  expect(capabilityOf("gemini", "gemini-2.5-pro")).toMatchObject({ vision: true, cachedInputUsd: undefined });
  expect(costUsd(capabilityOf("gemini", "gemini-2.5-pro"), usage)).toBe(1.25);
  expect(costUsd(capabilityOf("qwen", "qwen3.7-max"), usage)).toBeUndefined();
});
