import { systemClock } from "../lib/time/clock.ts";
import { AppError } from "../lib/app-error.ts";
import { anthropic } from "./anthropic/definition.ts";
import type { ProviderDefinition, ProviderPorts, ProviderSettings } from "./define-provider.ts";
import { LateProvider } from "./routes/late-provider.ts";
import { offline } from "./offline/definition.ts";
import { openai } from "./openai/definition.ts";
import { openAiPresets } from "./openai/presets.ts";
import type { Provider } from "./provider.ts";

/**
 * Every kind of provider that comes with crabpot; in this order a key in the environment decides which one a first
 * start uses.
 */
export const providerDefinitions: readonly ProviderDefinition[] = [offline, anthropic, openai, ...openAiPresets];

type OpenOptions = Partial<Omit<ProviderPorts, "name">> & {
  /** Available kinds, if not crabpot's own. */
  readonly definitions?: readonly ProviderDefinition[];
};

/**
 * Opens a provider of the configuration; its code and its vendor's SDK are loaded only then. Throws `config_invalid`
 * for an unknown kind.
 */
export async function openProvider(
  name: string,
  settings: ProviderSettings,
  { definitions = providerDefinitions, silenceMs = 300_000, clock = systemClock }: OpenOptions = {},
): Promise<Provider> {
  const definition = definitions.find(({ kind }) => kind === settings.kind);
  if (!definition) throw new AppError("config_invalid", `There is no kind of provider "${settings.kind}".`);
  return definition.open(settings, { name, silenceMs, clock });
}

/** The same, opened when it is needed, or a moment later. The caller disposes it. */
export function openLateProvider(name: string, settings: ProviderSettings, options: OpenOptions = {}): Provider {
  return new LateProvider(name, () => openProvider(name, settings, options));
}
