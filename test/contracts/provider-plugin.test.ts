import { join } from "node:path";

import { afterAll, beforeAll } from "vitest";

import { openProvider } from "../../src/models/catalog.ts";
import { examplePlugins, openPluginRig, type PluginRig } from "../support/plugins.ts";
import { testProvider } from "./provider.ts";

const settings = { kind: "parrot", sound: "Squawk!", password: "pieces of eight" };
let rig: PluginRig;
const openPolly = () => openProvider("polly", settings, { definitions: rig.plugins.providers });

beforeAll(async () => {
  rig = await openPluginRig({ sources: [join(examplePlugins, "parrot")] });
  // Its process starts with its first use, and is one for the providers of all tests.
  await using provider = await openPolly();
  await provider.check(new AbortController().signal);
});
afterAll(() => rig[Symbol.asyncDispose]());

testProvider("a provider of a plugin", async () => {
  const provider = await openPolly();
  return { provider, model: "grey", [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
});
