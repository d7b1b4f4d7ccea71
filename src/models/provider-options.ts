import type { Clock } from "../lib/clock.ts";

/** One entry of `models.providers`. */
export type ProviderConfig =
  | { readonly kind: "offline" }
  | {
      readonly kind: "anthropic" | "openai";
      readonly apiKey: string;
      readonly baseUrl?: string | undefined;
    };

export interface ProviderOptions {
  /** Longest silence of the vendor, before and within an answer, after which a call counts as failed. */
  readonly silenceMs: number;
  readonly clock: Clock;
}
