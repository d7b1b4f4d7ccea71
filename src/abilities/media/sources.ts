import type { SpeechSource } from "../../domain/settings/speech.ts";
import type { TranscriberSource } from "../../domain/settings/transcriber-source.ts";
import { AppError } from "../../lib/app-error.ts";
import { type MediaSettings, speechDefaults } from "./config.ts";

/** Returns address and key of a provider's server; undefined where it has none. */
export type MediaServerOf = (provider: string) => { readonly baseUrl: string; readonly apiKey: string } | undefined;

/**
 * Resolves the source of transcripts: a provider's address, or the local model in `localFolder`. Expects a checked
 * configuration; throws AppError `config_invalid` otherwise.
 */
export function transcriberSource(
  { transcription }: MediaSettings,
  serverOfProvider: MediaServerOf,
  localFolder: string,
): TranscriberSource {
  if (typeof transcription === "string") return transcription === "local" ? { folder: localFolder } : transcription;
  const { provider, model } = transcription;
  const server = serverOfProvider(provider);
  if (server !== undefined) return { provider, ...server, model };
  throw new AppError("config_invalid", `media.transcription.provider: ${provider} transcribes nothing.`);
}

/** Resolves the source of speech. Expects a checked configuration; throws AppError `config_invalid` otherwise. */
export function speechSource({ speech }: MediaSettings, serverOfProvider: MediaServerOf): SpeechSource {
  if (speech === "none") return "none";
  if (speech === "espeak") return { program: "espeak", ...speechDefaults };
  if ("program" in speech) return speech;
  const server = serverOfProvider(speech.provider);
  if (server !== undefined) return { ...speech, ...server };
  throw new AppError("config_invalid", `media.speech.provider: ${speech.provider} cannot speak.`);
}
