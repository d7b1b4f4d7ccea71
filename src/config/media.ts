import type { SpeechPlace } from "../domain/settings/speech.ts";
import type { TranscriberPlace } from "../domain/settings/transcriber-place.ts";
import { AppError } from "../lib/app-error.ts";
import type { Adapters } from "./adapters.ts";
import type { Config } from "./schema/config.ts";
import { speechDefaults } from "./schema/media.ts";

/**
 * What hears voice messages, with where to: what a provider is for is looked up; the local model lies in `localFolder`.
 * The configuration was checked: there is such a provider. Throws AppError `config_invalid` otherwise.
 */
export function transcriberPlace(
  { media, models }: Pick<Config, "media" | "models">,
  adapters: Pick<Adapters, "providers">,
  localFolder: string,
): TranscriberPlace {
  const { transcription } = media;
  if (typeof transcription === "string") return transcription === "local" ? { folder: localFolder } : transcription;
  const { provider, model } = transcription;
  const place = serverOf({ models }, adapters, provider);
  if (place !== undefined) return { provider, ...place, model };
  throw new AppError("config_invalid", `media.transcription.provider: ${provider} transcribes nothing.`);
}

/**
 * What says the words of agents aloud, with where it is. The configuration was checked. Throws AppError
 * `config_invalid` otherwise.
 */
export function speechPlace(
  { media: { speech }, models }: Pick<Config, "media" | "models">,
  adapters: Pick<Adapters, "providers">,
): SpeechPlace {
  if (speech === "none") return "none";
  if (speech === "espeak") return { program: "espeak", ...speechDefaults };
  if ("program" in speech) return speech;
  const place = serverOf({ models }, adapters, speech.provider);
  if (place !== undefined) return { ...speech, ...place };
  throw new AppError("config_invalid", `media.speech.provider: ${speech.provider} cannot speak.`);
}

function serverOf(
  { models }: Pick<Config, "models">,
  { providers }: Pick<Adapters, "providers">,
  name: string,
): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  const settings = models.providers[name];
  return settings && providers.find(({ kind }) => kind === settings.kind)?.server?.(settings);
}
