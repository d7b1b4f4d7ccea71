import { defineProvider } from "../define-provider.ts";
import { vendorSecrets, vendorSettings } from "../vendor-settings.ts";

const officialBaseUrl = "https://api.openai.com/v1";

/** OpenAI, and the many servers that speak Chat Completions. */
export const openai = defineProvider({
  kind: "openai",
  config: vendorSettings,
  secrets: vendorSecrets,
  environment: {
    keyVariable: "OPENAI_API_KEY",
    settings: { apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
    // The vendor's balanced model of late 2026.
    model: "gpt-6.1-sol",
  },
  embeddings: ({ apiKey, baseUrl = officialBaseUrl }) => ({ apiKey, baseUrl }),
  open: async (settings, ports) => {
    const { OpenAiProvider } = await import("./openai-provider.ts");
    return new OpenAiProvider(settings, ports);
  },
});
