import * as z from "zod";

import { name } from "../name.ts";

/** Defaults for speech by a program. */
export const speechDefaults = { voice: "en", charactersPerDay: 100_000 } as const;

const provided = z.strictObject({
  provider: z.string().min(1).max(64).describe("One of models.providers that speaks OpenAI's API."),
  model: z.string().min(1).max(200),
});

const charactersPerDay = z
  .int()
  .min(1)
  .max(10_000_000)
  .default(speechDefaults.charactersPerDay)
  .describe("Characters that the agents of a group may say aloud in a day (UTC).");

const speaking = provided.extend({
  voice: z.string().min(1).max(200).default("alloy").describe("Whose voice it is, as the provider calls it."),
  charactersPerDay,
});

const program = z.strictObject({
  program: z.literal("espeak"),
  voice: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,30}(?:\+[a-z0-9]{1,20})?$/, "is the name of a voice of espeak-ng, such as de or en-gb+f3")
    .default(speechDefaults.voice)
    .describe("The language, as espeak-ng calls it."),
  charactersPerDay,
});

const media = z
  .strictObject({
    vision: name
      .optional()
      .describe(
        "The route that describes pictures to groups whose own models cannot see. Left out: they are told that there is one.",
      ),
    transcription: z
      .union([z.literal("none"), z.literal("local"), provided])
      .default("none")
      .meta({
        description:
          "What hears voice messages, before they are looked through for a mention. local: the English model that `crabpot media install-model` installs; none: agents are told that there is one, and how long.",
        examples: [{ provider: "gpt", model: "whisper-1" }],
      }),
    speech: z
      .union([z.literal("none"), z.literal("espeak"), program, speaking])
      .default("none")
      .meta({
        description:
          "What says aloud what agents send as voice messages. espeak: espeak-ng in a container of groups whose image has it; none: they have no send_voice.",
        examples: [{ provider: "gpt", model: "gpt-4o-mini-tts", voice: "alloy" }],
      }),
  })
  .prefault({})
  .meta({ description: "Pictures and voice messages.", examples: [{ vision: "main" }] });

export type MediaSettings = z.output<typeof media>;

/** The key `media` at the top. */
export const mediaConfig = { top: { media }, ofGroup: {}, effects: { media: "now" } } as const;
