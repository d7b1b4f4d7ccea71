import type { Embedder } from "./embedder.ts";
import { isModelInstalled, LocalEmbedder } from "./local-embedder.ts";
import { ProviderEmbedder } from "./provider-embedder.ts";

/** By what memories are found besides their words: nothing, the model in this folder, or a model of a provider. */
export type EmbedderPlace =
  | "none"
  | { readonly folder: string }
  | {
      readonly provider: string;
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly model: string;
      readonly dimensions: number;
    };

/** Undefined where there is none, or it is not installed. */
export async function openEmbedder(place: EmbedderPlace): Promise<Embedder | undefined> {
  if (place === "none") return undefined;
  if (!("folder" in place)) return new ProviderEmbedder(place);
  return (await isModelInstalled(place.folder)) ? new LocalEmbedder(place.folder) : undefined;
}
