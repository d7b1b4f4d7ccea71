/** Source of transcripts: none, a model in a folder, or a provider's model. */
export type TranscriberSource =
  | "none"
  | { readonly folder: string }
  | {
      /** The provider's name in `models.providers`. */
      readonly provider: string;
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly model: string;
    };
