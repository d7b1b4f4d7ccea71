/** By what memories are found besides their words: nothing, the model in this folder, or a model of a provider. */
export type EmbedderSource = "none" | { readonly folder: string } | EmbeddingModel;

export interface EmbeddingModel {
  /** The provider's name in `models.providers`. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly dimensions: number;
}
