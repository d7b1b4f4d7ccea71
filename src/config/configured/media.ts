import type { SpeechSource } from "../../domain/settings/speech.ts";
import type { TranscriberSource } from "../../domain/settings/transcriber-source.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Adapters } from "../adapters.ts";
import type { Config } from "../schema/config.ts";
import { speechDefaults } from "../schema/media.ts";

/**
 * Resolves the source of transcripts: a provider's address, or the local model in `localFolder`. Expects a checked
 * configuration; throws AppError `config_invalid` otherwise.
 */
export function transcriberSource(
  { media, models }: Pick<Config, "media" | "models">,
  adapters: Pick<Adapters, "providers">,
  localFolder: string,
): TranscriberSource {
  const { transcription } = media;
  if (typeof transcription === "string") return transcription === "local" ? { folder: localFolder } : transcription;
  const { provider, model } = transcription;
  const place = providerServer({ models }, adapters, provider);
  if (place !== undefined) return { provider, ...place, model };
  throw new AppError("config_invalid", `media.transcription.provider: ${provider} transcribes nothing.`);
}

/** Resolves the source of speech. Expects a checked configuration; throws AppError `config_invalid` otherwise. */
export function speechSource(
  { media: { speech }, models }: Pick<Config, "media" | "models">,
  adapters: Pick<Adapters, "providers">,
): SpeechSource {
  if (speech === "none") return "none";
  if (speech === "espeak") return { program: "espeak", ...speechDefaults };
  if ("program" in speech) return speech;
  const place = providerServer({ models }, adapters, speech.provider);
  if (place !== undefined) return { ...speech, ...place };
  throw new AppError("config_invalid", `media.speech.provider: ${speech.provider} cannot speak.`);
}

/** The address and key of the provider of this name; undefined where it serves nothing but models. */
export function providerServer(
  { models }: Pick<Config, "models">,
  { providers }: Pick<Adapters, "providers">,
  name: string,
): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  const settings = models.providers[name];
  return settings && providers.find(({ kind }) => kind === settings.kind)?.server?.(settings);
}
