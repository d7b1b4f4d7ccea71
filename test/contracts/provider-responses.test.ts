import { openProvider } from "../../src/models/catalog.ts";
import { startResponsesServer } from "../support/model-servers/responses.ts";
import { contractScript } from "./provider-script.ts";
import { testProvider } from "./provider.ts";

testProvider("openai with its Responses API", async () => {
  const server = await startResponsesServer(contractScript);
  const settings = { kind: "openai", api: "responses", apiKey: "sk-test-key", baseUrl: server.url };
  const provider = await openProvider("vendor", settings);
  return { provider, model: "some-model", [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
});
