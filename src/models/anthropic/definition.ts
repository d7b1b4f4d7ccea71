import { defineProvider } from "../define-provider.ts";
import { vendorSecrets, vendorSettings } from "../wire/vendor-settings.ts";

/** Anthropic, and servers that speak its Messages API. */
export const anthropic = defineProvider({
  kind: "anthropic",
  config: vendorSettings,
  secrets: vendorSecrets,
  environment: {
    keyVariable: "ANTHROPIC_API_KEY",
    settings: { apiKey: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL" },
    // The vendor's balanced model of late 2026.
    model: "claude-sonnet-5-5",
  },
  open: async (settings, ports) => {
    const { AnthropicProvider } = await import("./anthropic-provider.ts");
    return new AnthropicProvider(settings, ports);
  },
});
