import { expect, test } from "vitest";

import { Dialects, learn } from "../../../../src/models/wire/dialects.ts";
import type { Lesson } from "../../../../src/models/wire/dialects.ts";
import type { ProviderRequest } from "../../../../src/models/provider.ts";

interface Manner {
  readonly polite: boolean;
  readonly loud: boolean;
}

const lessons: readonly Lesson<Manner>[] = [
  { says: /manners/, change: { polite: true } },
  { says: /louder/, change: { loud: true }, isForOnce: true },
  { says: /once more/, change: { polite: true, loud: true } },
];

const request: ProviderRequest = { model: "one", system: [], messages: [], tools: [], maxOutputTokens: 1 };

/** Asks a server that says these words, one after another, then answers with how it was asked. */
async function ask(dialects: Dialects<Manner>, words: readonly string[], model = "one"): Promise<readonly Manner[]> {
  const asked: Manner[] = [];
  const left = [...words];
  await dialects
    .ask({ ...request, model }, (manner) => {
      asked.push(manner);
      const refusal = left.shift();
      return refusal === undefined ? Promise.resolve() : Promise.reject(new Error(refusal));
    })
    .catch(() => undefined);
  return asked;
}

function open(): Dialects<Manner> {
  return new Dialects<Manner>({
    first: { polite: false, loud: false },
    adapt: (dialect, refusal, about) => learn(lessons, { dialect, refusal, request: about }),
    refusalOf: (error) => (error instanceof Error && error.message !== "away" ? error.message : undefined),
  });
}

const [rude, polite] = [
  { polite: false, loud: false },
  { polite: true, loud: false },
];

test("what a model accepts in the end is kept, for this model", async () => {
  const dialects = open();

  expect(await ask(dialects, ["manners!"])).toEqual([rude, polite]);
  expect(await ask(dialects, [])).toEqual([polite]);
  expect(await ask(dialects, [], "two")).toEqual([rude]);
});

test("what is learned of one request alone is not kept, what is learned beside it is", async () => {
  const dialects = open();

  expect(await ask(dialects, ["louder", "manners"])).toEqual([
    rude,
    { ...rude, loud: true },
    { polite: true, loud: true },
  ]);
  expect(await ask(dialects, [])).toEqual([polite]);
});

test("nothing is kept of what was refused to the end, or of what failed", async () => {
  const dialects = open();

  expect(await ask(dialects, ["manners", "manners"])).toEqual([rude, polite]);
  expect(await ask(dialects, ["manners", "away"])).toEqual([rude, polite]);
  expect(await ask(dialects, ["away"])).toEqual([rude]);
  expect(await ask(dialects, [])).toEqual([rude]);
});

test("a server that always has another wish is given up", async () => {
  let count = 0;
  const dialects = new Dialects<{ readonly count: number }>({
    first: { count },
    adapt: () => ({ change: { count: (count += 1) } }),
    refusalOf: () => "something else",
  });

  await expect(dialects.ask(request, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(count).toBeLessThanOrEqual(10);
});
