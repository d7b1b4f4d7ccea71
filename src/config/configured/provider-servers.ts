import type { Adapters } from "../adapters.ts";
import type { Config } from "../schema/config.ts";

/** Returns address and key of a provider's server; undefined where the provider is unknown or has none. */
export function providerServer(
  { models }: Pick<Config, "models">,
  { providers }: Pick<Adapters, "providers">,
  name: string,
): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  const settings = models.providers[name];
  return settings && providers.find(({ kind }) => kind === settings.kind)?.server?.(settings);
}
