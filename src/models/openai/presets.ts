import { defineProvider } from "../define-provider.ts";
import type { ProviderDefinition } from "../define-provider.ts";
import { vendorSecrets, vendorSettings } from "../wire/vendor-settings.ts";
import type { ServerTraits } from "./server-traits.ts";

/** A server that speaks Chat Completions, with what is its own. */
interface Preset {
  readonly kind: string;
  readonly baseUrl: string;
  readonly traits: ServerTraits;
  /** Runs on the user's machine and needs no key. */
  readonly isLocal?: boolean;
}

/** Addresses and fields as the vendors' documents have them in November 2026. */
const presets: readonly Preset[] = [
  {
    kind: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    traits: { effort: "effort", wantsSignatures: true },
  },
  {
    kind: "deepseek",
    baseUrl: "https://api.deepseek.com",
    traits: { effort: "switchAndEffort", wantsThoughts: true },
  },
  { kind: "kimi", baseUrl: "https://api.moonshot.ai/v1", traits: { effort: "kimi", wantsThoughts: true } },
  { kind: "qwen", baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", traits: { effort: "enable" } },
  { kind: "openrouter", baseUrl: "https://openrouter.ai/api/v1", traits: { effort: "reasoning" } },
  {
    kind: "mistral",
    baseUrl: "https://api.mistral.ai/v1",
    traits: { effort: "effort", shortCallIds: true, answersTools: true },
  },
  { kind: "groq", baseUrl: "https://api.groq.com/openai/v1", traits: { effort: "effort" } },
  { kind: "xai", baseUrl: "https://api.x.ai/v1", traits: { effort: "effort" } },
  { kind: "ollama", baseUrl: "http://127.0.0.1:11434/v1", traits: { effort: "effort" }, isLocal: true },
  { kind: "vllm", baseUrl: "http://127.0.0.1:8000/v1", traits: { effort: "template" }, isLocal: true },
  { kind: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1", traits: { effort: "template" }, isLocal: true },
];

/** Local servers take any word as a key. */
const localSettings = vendorSettings.extend({ apiKey: vendorSettings.shape.apiKey.default("none") });

/** Vendors and servers that are configured by their name and, where they want one, a key. */
export const openAiPresets: readonly ProviderDefinition[] = presets.map(toDefinition);

function toDefinition({ kind, baseUrl, traits, isLocal = false }: Preset): ProviderDefinition {
  return defineProvider({
    kind,
    config: isLocal ? localSettings : vendorSettings,
    secrets: vendorSecrets,
    server: (settings) => ({ apiKey: settings.apiKey, baseUrl: settings.baseUrl ?? baseUrl }),
    open: async (settings, ports) => {
      const { OpenAiProvider } = await import("./openai-provider.ts");
      return new OpenAiProvider({ ...settings, baseUrl: settings.baseUrl ?? baseUrl }, { ports, traits });
    },
  });
}
