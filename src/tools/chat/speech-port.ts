import type { VoiceMessage } from "../../domain/settings/speech.ts";

/** What says the group's words aloud. */
export interface SpeechPort {
  /** Throws ToolError with why nothing came of it. */
  say(text: string): Promise<VoiceMessage>;
}
