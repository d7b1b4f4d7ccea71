/**
 * Source of spoken answers: none, a program in a container, or a provider's model. `charactersPerDay`: maximum per
 * group and UTC day.
 */
export type SpeechSource =
  | "none"
  | { readonly program: "espeak"; readonly voice: string; readonly charactersPerDay: number }
  | {
      /** The provider's name in `models.providers`. */
      readonly provider: string;
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly model: string;
      readonly voice: string;
      readonly charactersPerDay: number;
    };

/** Debian packages for speech in a group's image. */
export const espeakPackages: readonly string[] = ["espeak-ng", "opus-tools"];

/** The container in which it speaks, among those of MCP servers, none of which can have this name. */
export const speechServer = "_speech";

/** Half an hour of speech has fewer. */
export const mostVoiceBytes = 16_000_000;

/** Words that were said aloud: Ogg Opus, which phones play as a voice message. */
export interface VoiceMessage {
  readonly content: Uint8Array;
  /** Undefined: nobody knows. */
  readonly seconds?: number | undefined;
  /** Loudness at 64 moments, 0 to 100, as phones draw it; undefined when unknown. */
  readonly waveform?: readonly number[] | undefined;
}
