import { systemClock } from "../lib/clock.ts";
import { LateProvider } from "./late-provider.ts";
import type { ProviderConfig, ProviderOptions } from "./provider-options.ts";
import type { Provider } from "./provider.ts";

/** Opens the provider that the configuration names; its code and its vendor's SDK are loaded only then. */
export async function openProvider(
  name: string,
  config: ProviderConfig,
  options: Partial<ProviderOptions> = {},
): Promise<Provider> {
  const full: ProviderOptions = { silenceMs: options.silenceMs ?? 300_000, clock: options.clock ?? systemClock };
  if (config.kind === "offline") {
    const { OfflineProvider } = await import("./offline/offline-provider.ts");
    return new OfflineProvider(name);
  }
  if (config.kind === "anthropic") {
    const { AnthropicProvider } = await import("./anthropic/anthropic-provider.ts");
    return new AnthropicProvider(name, config, full);
  }
  const { OpenAiProvider } = await import("./openai/openai-provider.ts");
  return new OpenAiProvider(name, config, full);
}

/** All providers of the configuration, by name; each is opened when it is needed, or a moment after the start. */
export function openProviders(models: {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly timeoutSeconds: number;
}): ReadonlyMap<string, Provider> {
  const silenceMs = models.timeoutSeconds * 1000;
  const entries = Object.entries(models.providers).map(
    ([name, config]) => [name, new LateProvider(name, () => openProvider(name, config, { silenceMs }))] as const,
  );
  return new Map(entries);
}
