import type { EmbedderSource } from "../../../domain/settings/embedder-source.ts";
import type { Embedder } from "./embedder.ts";
import { isModelInstalled, LocalEmbedder } from "./local-embedder.ts";
import { ProviderEmbedder } from "./provider-embedder.ts";

/** Undefined where there is none, or it is not installed. */
export async function openEmbedder(place: EmbedderSource): Promise<Embedder | undefined> {
  if (place === "none") return undefined;
  if (!("folder" in place)) return new ProviderEmbedder(place);
  return (await isModelInstalled(place.folder)) ? new LocalEmbedder(place.folder) : undefined;
}
