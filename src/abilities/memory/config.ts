import * as z from "zod";

import { isGroupName } from "../../domain/chats/group.ts";
import { categoryPattern } from "./item.ts";

const weight = z.number().min(0).max(10);
const days = z.number().int().min(1).max(36_500);

const provided = z.strictObject({
  provider: z.string().min(1).max(64).describe("One of models.providers that speaks OpenAI's API."),
  model: z.string().min(1).max(200),
  dimensions: z.number().int().min(8).max(4096).default(512).describe("How many numbers a vector has."),
});

const memory = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        "What is said becomes memory, and agents are told what fits. `crabpot memory` works also without this.",
      ),
    embeddings: z
      .union([z.literal("none"), z.literal("local"), provided])
      .default("local")
      .meta({
        description:
          "How memories are found by their meaning. local: by the model that `crabpot memory install-model` installs; none, or not installed: by words only.",
        examples: [{ provider: "gpt", model: "text-embedding-3-small", dimensions: 512 }],
      }),
    weights: z
      .strictObject({
        vector: weight.default(0.5).describe("Of the meaning."),
        text: weight.default(0.5).describe("Of the words."),
        neighbour: weight.default(0.3).describe("Of what was said just before or after."),
      })
      .prefault({})
      .describe("What counts how much in a search."),
    recallTokens: z
      .number()
      .int()
      .min(0)
      .max(100_000)
      .default(1000)
      .describe("What memories may cost a turn; at least five are given; 0: none."),
    extract: z
      .strictObject({
        everyMessages: z.number().int().min(0).max(10_000).default(15).describe("0: never."),
        route: z.string().min(1).max(64).optional().describe("The route that is asked; left out: the group's."),
      })
      .prefault({})
      .describe("How facts are drawn from what is said."),
    global: z
      .strictObject({
        read: z
          .union([z.enum(["main", "all"]), z.array(z.string().refine(isGroupName, "no name of a group")).max(1_000)])
          .default("main")
          .describe("main: main groups only; all: every group; or names of groups, besides main ones."),
      })
      .prefault({})
      .describe("Who reads the notes of category global, which main groups write."),
    hygiene: z
      .strictObject({
        everyHours: z.number().min(0).max(8760).default(12).describe("0: never."),
        keepDays: z
          .record(z.string().regex(categoryPattern), days)
          .default({ conversation: 365, daily: 90 })
          .describe("By category; one that is not named is kept for good."),
      })
      .prefault({})
      .describe("How long memories are kept, by category, and how often old ones are removed for good."),
  })
  .prefault({})
  .describe("What groups remember.");

/** The section `memory` at the top. */
export const memoryConfig = { top: { memory }, ofGroup: {}, effects: { memory: "now" } } as const;

/** Memory settings. */
export type MemorySettings = z.output<typeof memory>;
