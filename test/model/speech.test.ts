import { join } from "node:path";

import { expect, test } from "vitest";

import { LocalSpeechModel } from "../../src/abilities/media/offline.ts";
import { cachedModelFolder } from "../support/cached-model.ts";

const checkout = join(import.meta.dirname, "../..");

test("the local model hears what a program says", async () => {
  const model = new LocalSpeechModel(join(cachedModelFolder(), "../.."), checkout);
  if (!model.isInstalled) await model.install({ variables: process.env });

  expect(await model.hearSample()).toMatch(/please remind us to buy two liters of milk and bread/i);
});
