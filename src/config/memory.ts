import type { EmbedderPlace } from "../domain/settings/embedder-place.ts";
import { AppError } from "../lib/app-error.ts";
import type { Adapters } from "./adapters.ts";
import type { Config } from "./schema/config.ts";

/**
 * How memories are embedded, with where to: what a provider is for is looked up; the local model lies in `localFolder`.
 * The configuration was checked: there is such a provider. Throws AppError `config_invalid` otherwise.
 */
export function embedderPlace(
  { memory, models }: Pick<Config, "memory" | "models">,
  adapters: Pick<Adapters, "providers">,
  localFolder: string,
): EmbedderPlace {
  const { embeddings } = memory;
  if (typeof embeddings === "string") return embeddings === "local" ? { folder: localFolder } : embeddings;
  const { provider, model, dimensions } = embeddings;
  const settings = models.providers[provider];
  const place = settings && adapters.providers.find(({ kind }) => kind === settings.kind)?.server?.(settings);
  if (place !== undefined) return { provider, ...place, model, dimensions };
  throw new AppError("config_invalid", `memory.embeddings.provider: ${provider} has no embeddings.`);
}
