import { openProvider } from "../../src/models/catalog.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";
import { contractScript } from "./provider-script.ts";
import { testProvider } from "./provider.ts";

testProvider("openai", async () => {
  const server = await startOpenAiServer(contractScript);
  const provider = await openProvider("vendor", { kind: "openai", apiKey: "sk-test-key", baseUrl: server.url });
  return { provider, model: "some-model", [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
});
