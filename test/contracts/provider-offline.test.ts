import { openProvider } from "../../src/models/catalog.ts";
import { testProvider } from "./provider.ts";

testProvider("offline", async () => {
  const provider = await openProvider("offline", { kind: "offline" });
  return { provider, model: "scripted", [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
});
