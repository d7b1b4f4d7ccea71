import type { EmbedderSource } from "../../domain/settings/embedder-source.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Adapters } from "../adapters.ts";
import type { Config } from "../schema/config.ts";
import { providerServer } from "./media.ts";

/**
 * Resolves the embedder: a provider's address, or the local model in `localFolder`. Expects a checked configuration;
 * throws AppError `config_invalid` otherwise.
 */
export function embedderSource(
  { memory, models }: Pick<Config, "memory" | "models">,
  adapters: Pick<Adapters, "providers">,
  localFolder: string,
): EmbedderSource {
  const { embeddings } = memory;
  if (typeof embeddings === "string") return embeddings === "local" ? { folder: localFolder } : embeddings;
  const { provider, model, dimensions } = embeddings;
  const place = providerServer({ models }, adapters, provider);
  if (place !== undefined) return { provider, ...place, model, dimensions };
  throw new AppError("config_invalid", `memory.embeddings.provider: ${provider} has no embeddings.`);
}
