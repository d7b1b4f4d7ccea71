/** What hears voice messages: nothing, the model in this folder, or a model of a provider. */
export type TranscriberPlace =
  | "none"
  | { readonly folder: string }
  | {
      /** The provider's name in `models.providers`. */
      readonly provider: string;
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly model: string;
    };
