import * as z from "zod";

import { defineProvider } from "../define-provider.ts";
import { vendorSecrets, vendorSettings } from "../wire/vendor-settings.ts";
import type { ServerTraits } from "./server-traits.ts";

const officialBaseUrl = "https://api.openai.com/v1";

/** OpenAI, and the many servers that speak Chat Completions. */
export const openai = defineProvider({
  kind: "openai",
  config: vendorSettings.extend({
    api: z
      .enum(["chat", "responses"])
      .optional()
      .describe("responses: OpenAI's models think between calls of tools; chat, the default: what most servers speak."),
  }),
  secrets: vendorSecrets,
  environment: {
    keyVariable: "OPENAI_API_KEY",
    settings: { apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
    // The vendor's balanced model of late 2026.
    model: "gpt-6.1-sol",
  },
  server: ({ apiKey, baseUrl = officialBaseUrl }) => ({ apiKey, baseUrl }),
  open: async (settings, ports) => {
    if (settings.api === "responses") {
      const { ResponsesProvider } = await import("./responses-provider.ts");
      return new ResponsesProvider(settings, ports);
    }
    const { OpenAiProvider } = await import("./openai-provider.ts");
    const traits: ServerTraits = {
      effort: "effort",
      ...(settings.baseUrl === undefined && { outputLimit: "max_completion_tokens" }),
    };
    return new OpenAiProvider(settings, { ports, traits });
  },
});
