import type { VoiceMessage } from "../../domain/settings/speech.ts";

/** Speaks the group's messages. */
export interface SpeechPort {
  /** Throws ToolError with why nothing came of it. */
  say(text: string): Promise<VoiceMessage>;
}
