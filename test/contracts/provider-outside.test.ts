import { openProvider } from "../../src/models/catalog.ts";
import { parrot } from "../fixtures/adapters/parrot-provider.ts";
import { testProvider } from "./provider.ts";

testProvider("a provider from outside", async () => {
  const settings = { kind: "parrot", sound: "Squawk!", password: "pieces of eight" };
  const provider = await openProvider("polly", settings, { definitions: [parrot] });
  return { provider, model: "grey", [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
});
