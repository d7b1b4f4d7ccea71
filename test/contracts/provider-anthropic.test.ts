import { openProvider } from "../../src/models/catalog.ts";
import { startAnthropicServer } from "../support/model-servers/anthropic.ts";
import { contractScript } from "./provider-script.ts";
import { testProvider } from "./provider.ts";

testProvider("anthropic", async () => {
  const server = await startAnthropicServer(contractScript);
  const provider = await openProvider("vendor", { kind: "anthropic", apiKey: "sk-test-key", baseUrl: server.url });
  return { provider, model: "some-model", [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
});
