import { expect, test } from "vitest";

import { describeModel, stillHolds } from "../../../../src/models/knowledge/learned.ts";

const now = Date.UTC(2026, 0, 15);
const local = { kind: "openai", apiKey: "sk-1", baseUrl: "http://127.0.0.1:1/v1" };
const models = { providers: { local }, capabilities: {} };
const learned = {
  model: "local/llama",
  windowTokens: 8_192,
  described: describeModel(models, "local/llama"),
  learnedAt: now - 86_400_000,
};

/** The same, with another provider behind the name. */
function at(change: Partial<typeof local>): typeof models {
  return { ...models, providers: { local: { ...local, ...change } } };
}

test.each<[string, Parameters<typeof stillHolds>[1], boolean]>([
  ["nothing has changed", models, true],
  ["there is another key", at({ apiKey: "sk-2" }), true],
  ["another model is described", { ...models, capabilities: { "local/other": { contextTokens: 4_000 } } }, true],
  ["another server is behind the name", at({ baseUrl: "http://b/v1" }), false],
  [
    "the operator says how large it is",
    { ...models, capabilities: { "local/llama": { contextTokens: 16_000 } } },
    false,
  ],
  ["the provider is gone", { ...models, providers: {} }, false],
])("what was learned of a window: %s", (_what, known, holds) => {
  expect(stillHolds(learned, known, now)).toBe(holds);
});

test("after a month it is learned anew", () => {
  expect(stillHolds(learned, models, now + 28 * 86_400_000)).toBe(true);
  expect(stillHolds(learned, models, now + 30 * 86_400_000)).toBe(false);
});
