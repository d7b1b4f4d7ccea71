import { AppError } from "../lib/app-error.ts";
import type { Adapters } from "./adapters.ts";
import type { Config } from "./schema/config.ts";

/** How memories are embedded, with where to: what a provider is for is looked up. */
export type EmbeddingSettings =
  | "none"
  | "local"
  | {
      readonly provider: string;
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly model: string;
      readonly dimensions: number;
    };

/** The configuration was checked: there is such a provider. Throws AppError `config_invalid` otherwise. */
export function embeddingSettings(
  { memory, models }: Pick<Config, "memory" | "models">,
  adapters: Pick<Adapters, "providers">,
): EmbeddingSettings {
  const { embeddings } = memory;
  if (typeof embeddings === "string") return embeddings;
  const { provider, model, dimensions } = embeddings;
  const settings = models.providers[provider];
  const place = settings && adapters.providers.find(({ kind }) => kind === settings.kind)?.embeddings?.(settings);
  if (place !== undefined) return { provider, ...place, model, dimensions };
  throw new AppError("config_invalid", `memory.embeddings.provider: ${provider} has no embeddings.`);
}
