import type { EmbedderSource } from "../../../domain/settings/embedder-source.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { MemorySettings } from "../config.ts";

/** Returns address and key of a provider's server; undefined where it has none. */
export type ServerOfProvider = (name: string) => { readonly baseUrl: string; readonly apiKey: string } | undefined;

/** Resolves the embedder: a provider's server, or the local model in a folder. Throws AppError `config_invalid`. */
export function embedderSource(
  { embeddings }: Pick<MemorySettings, "embeddings">,
  serverOf: ServerOfProvider,
  localFolder: string,
): EmbedderSource {
  if (embeddings === "none") return embeddings;
  if (embeddings === "local") return { folder: localFolder };
  const { provider, model, dimensions } = embeddings;
  const server = serverOf(provider);
  if (server) return { provider, ...server, model, dimensions };
  throw new AppError("config_invalid", `memory.embeddings.provider: ${provider} has no embeddings.`);
}
