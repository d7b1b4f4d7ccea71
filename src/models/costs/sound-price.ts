import { partsOfReference } from "../routes/routes.ts";
import table from "./sound-prices.json" with { type: "json" };

/**
 * What a model that speaks or hears asks for, in US dollars; a price that is left out is 0, and one of them is there.
 */
export interface SoundPrice {
  /** For a million characters that are said aloud. */
  readonly spokenUsd?: number | undefined;
  /** For a minute that is said or heard. */
  readonly minuteUsd?: number | undefined;
}

/** What is said aloud, or heard. */
export interface SoundAmount {
  /** That are said; of what is heard, none are paid for. */
  readonly chars: number;
  readonly seconds: number;
}

/**
 * What is asked of the model that is called `provider/model`: `sound-prices.json`, changed by the configuration;
 * undefined: its price is not known.
 */
export function soundPriceOf(
  models: {
    readonly providers: Readonly<Record<string, { readonly kind: string }>>;
    readonly capabilities: Readonly<Record<string, SoundPrice>>;
  },
  reference: string,
): SoundPrice | undefined {
  const { provider, model } = partsOfReference(reference);
  const kinds: Readonly<Record<string, Readonly<Record<string, SoundPrice>>>> = table;
  const listed = kinds[models.providers[provider]?.kind ?? ""]?.[model];
  const { spokenUsd, minuteUsd } = models.capabilities[reference] ?? {};
  return spokenUsd === undefined && minuteUsd === undefined ? listed : { spokenUsd, minuteUsd };
}

/** What it costs in US dollars. */
export function soundUsd({ spokenUsd = 0, minuteUsd = 0 }: SoundPrice, { chars, seconds }: SoundAmount): number {
  return (chars * spokenUsd) / 1e6 + (seconds * minuteUsd) / 60;
}
