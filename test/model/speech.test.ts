import { join } from "node:path";

import { expect, test } from "vitest";

import { hearSample, installSpeechModel } from "../../src/abilities/media/speech/install-speech-model.ts";
import { isSpeechModelInstalled } from "../../src/abilities/media/speech/hearing.ts";
import { speechModel } from "../../src/abilities/media/speech/speech-model.ts";
import { cachedModelFolder } from "../support/cached-model.ts";

const checkout = join(import.meta.dirname, "../..");

test("the local model hears what a program says", async () => {
  const folder = join(cachedModelFolder(), "..", speechModel.name);
  if (!isSpeechModelInstalled(folder)) await installSpeechModel({ folder, variables: process.env, checkout });

  expect(await hearSample(folder, checkout)).toMatch(/please remind us to buy two liters of milk and bread/i);
});
