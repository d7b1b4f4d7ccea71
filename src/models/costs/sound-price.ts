import { partsOfReference } from "../routes/routes.ts";
import table from "./sound-prices.json" with { type: "json" };

/** Price of speech or hearing in US dollars; missing prices are 0, at least one is set. */
export interface SoundPrice {
  /** Per million spoken characters. */
  readonly spokenUsd?: number | undefined;
  /** Per minute spoken or heard. */
  readonly minuteUsd?: number | undefined;
}

/** Amount of spoken or heard sound. */
export interface SoundAmount {
  /** That are said; of what is heard, none are paid for. */
  readonly chars: number;
  readonly seconds: number;
}

/**
 * Price of the model `provider/model`: `sound-prices.json`, overridden by the configuration; undefined when unknown.
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

/** Cost in US dollars. */
export function soundUsd({ spokenUsd = 0, minuteUsd = 0 }: SoundPrice, { chars, seconds }: SoundAmount): number {
  return (chars * spokenUsd) / 1e6 + (seconds * minuteUsd) / 60;
}
