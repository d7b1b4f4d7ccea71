import { join } from "node:path";

import { openProvider } from "../../src/models/catalog.ts";
import { examplePlugins, openPluginRig } from "../support/plugins.ts";
import { testProvider } from "./provider.ts";

testProvider("a provider of a plugin", async () => {
  const rig = await openPluginRig({ sources: [join(examplePlugins, "parrot")] });
  const settings = { kind: "parrot", sound: "Squawk!", password: "pieces of eight" };
  const provider = await openProvider("polly", settings, { definitions: rig.plugins.providers });
  return {
    provider,
    model: "grey",
    [Symbol.asyncDispose]: async () => {
      await provider[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
});
