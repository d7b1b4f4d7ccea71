import { openProvider } from "../../src/models/catalog.ts";
import { startAnthropicServer } from "../support/model-servers/anthropic.ts";
import type { ModelScript, ModelServer } from "../support/model-servers/model-server.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";
import { providerContract } from "./provider.ts";
import type { ContractSubject } from "./provider.ts";

const script: ModelScript = ({ lastText, toolOutputs }) => {
  if (toolOutputs.length > 0) return { text: `They say: ${toolOutputs.join(", ")}` };
  const paths = [...lastText.matchAll(/^read (\S+)$/gm)].map(([, path]) => path);
  if (paths.length > 0) return { toolCalls: paths.map((path) => ({ name: "read_file", input: { path } })) };
  return { text: "Hello, I am a model on this machine." };
};

async function openWithServer(
  kind: "anthropic" | "openai",
  start: (script: ModelScript) => Promise<ModelServer>,
): Promise<ContractSubject> {
  const server = await start(script);
  const provider = await openProvider("vendor", { kind, apiKey: "sk-test-key", baseUrl: server.url });
  return { provider, model: "some-model", [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

providerContract("anthropic", () => openWithServer("anthropic", startAnthropicServer));

providerContract("openai", () => openWithServer("openai", startOpenAiServer));

providerContract("offline", async () => ({
  provider: await openProvider("offline", { kind: "offline" }),
  model: "scripted",
  [Symbol.asyncDispose]: () => Promise.resolve(),
}));
