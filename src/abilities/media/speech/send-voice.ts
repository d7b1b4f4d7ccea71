import * as z from "zod";

import type { VoiceMessage } from "../../../domain/settings/speech.ts";
import { ofHost } from "../../../domain/rights/sourced.ts";
import { ToolError } from "../../../protocol/tools.ts";
import { defineAbilityTool } from "../../../tools/define-tool.ts";

/** Speech of the group; undefined without any. */
export type SpeechPort =
  | {
      /** Throws ToolError with why nothing came of it. */
      say(text: string): Promise<VoiceMessage>;
    }
  | undefined;

/** OpenAI takes 4,096; it is about five minutes. */
const mostChars = 4_000;

/** Sends the words with the sound: for channels and readers that cannot play it, and for search. */
export const sendVoice = defineAbilityTool<SpeechPort>()({
  name: "send_voice",
  description:
    "Send a voice message: a machine says the text, exactly as it stands, where people want to listen. " +
    "Write it as it is spoken, without markup and links, and do not repeat it in your answer.",
  input: z.strictObject({
    text: z
      .string()
      .trim()
      .min(1)
      .max(mostChars, `is too long: at most ${mostChars} characters are said in one voice message`)
      .describe(`What is said, at most ${mostChars} characters.`),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 120,
  activity: { doing: "recording a voice message" },
  needs: ["redact", "send", "keepVoice"],
  requires: "speech",
  right: "speak",
  channelTrait: "voice",
  run: async (input, { redact, send, keepVoice, port }) => {
    if (!port) throw new ToolError("Nothing speaks for this group: media.speech is none. Write it instead.");
    const text = redact(input.text).trim();
    if (text === "") return ofHost`Nothing was sent: the text was empty.`;
    const file = await keepVoice(await port.say(text));
    await send({ text, file });
    const seconds = file.voice?.seconds;
    return seconds === undefined ? ofHost`Sent a voice message.` : ofHost`Sent a voice message of ${seconds} seconds.`;
  },
});
