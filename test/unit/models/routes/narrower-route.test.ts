import * as fc from "fast-check";
import { expect, test } from "vitest";

import { modelsOfRoute } from "../../../../src/models/knowledge/capabilities.ts";
import { refusalOfRoute } from "../../../../src/models/routes/narrower-route.ts";

const prices = { "a/dear": [5, 25], "a/cheap": [1, 5], "a/odd": [1, 50], "b/cheap": [1, 5], "a/unknown": [] } as const;
const references = Object.keys(prices);

function modelsWith(routes: Readonly<Record<string, readonly string[]>>) {
  const capabilities = Object.entries(prices).map(([reference, [inputUsd, outputUsd]]) => [
    reference,
    { inputUsd, outputUsd },
  ]);
  return {
    default: "main",
    routes,
    providers: { a: { kind: "openai" }, b: { kind: "openai" } },
    capabilities: Object.fromEntries(capabilities) as Readonly<
      Record<string, { inputUsd?: number; outputUsd?: number }>
    >,
  };
}

function refusal(wanted: readonly string[], main: readonly string[] = ["a/dear"]): string | undefined {
  return refusalOfRoute(modelsWith({ main, wanted }), { wanted: "wanted", own: undefined });
}

test("a route may stand in for another one if it asks no other provider and costs no more", () => {
  expect(refusal(["a/cheap"])).toBeUndefined();
  expect(refusal(["a/cheap", "a/dear"])).toBeUndefined();
  expect(refusal(["a/odd"])).toContain("may cost more");
  expect(refusal(["a/unknown"])).toContain("may cost more");
  expect(refusal(["a/unknown"], ["a/unknown"])).toBeUndefined();
  expect(refusal(["b/cheap"])).toContain("asks a provider that yours does not ask");
  expect(refusal(["a/dear"], ["a/cheap"])).toContain("may cost more");
  const models = modelsWith({ main: ["a/dear"], cheap: ["a/cheap"], far: ["b/cheap"] });
  expect(refusalOfRoute(models, { wanted: "constructor", own: "main" })).toBe(
    'There is no route "constructor". You may name: main, cheap.',
  );
});

test("no line of routes that stand in for each other ends at a dearer model or another provider", () => {
  const route = fc.uniqueArray(fc.constantFrom(...references), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(route, route, route, (main, second, third) => {
      const models = modelsWith({ main, second, third });
      const passes = (wanted: string, own: string): boolean => refusalOfRoute(models, { wanted, own }) === undefined;
      fc.pre(passes("second", "main") && passes("third", "second"));
      expect(passes("third", "main")).toBe(true);
      const providers = new Set(main.map((reference) => reference.split("/")[0]));
      for (const { reference } of modelsOfRoute(models, "third")) expect(providers).toContain(reference.split("/")[0]);
    }),
  );
});
